export const chinese: ReadonlyMap<string, string>;
