/** The part of esbuild's metafile that is looked at. */
interface Metafile {
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
}

export const ALLOWED_LICENCES: readonly string[];
export function bundledFolders(metafiles: readonly Metafile[]): string[];
export function licencesOf(root: string, folders: readonly string[]): string;
export function licenceIn(about: { license?: unknown; licenses?: unknown }): string;
