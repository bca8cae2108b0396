/** What one bundle's texts are given to, and what lays them. */
export interface TextsBehind {
  keep: (packed: string) => string;
  laidBehind: (code: string) => string;
  texts: () => Buffer;
}
export function createTextsBehind(): TextsBehind;
export function packed(text: string): string;
