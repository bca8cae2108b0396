/** The part of esbuild's metafile that is looked at. */
interface Metafile {
  outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
}

/** A package that the programs contain. */
export interface BundledPackage {
  name: string;
  version: string;
  licence: string;
  /** Of its archive, as npm writes it: `sha512-BASE64`. */
  integrity: string;
}

export const ALLOWED_LICENCES: readonly string[];
export function bundledFolders(metafiles: readonly Metafile[]): string[];
export function licencesOf(root: string, folders: readonly string[]): string;
export function packagesOf(
  root: string,
  folders: readonly string[],
  lock: { packages: Record<string, { version?: string; integrity?: string }> },
): BundledPackage[];
export function licenceIn(about: { license?: unknown; licenses?: unknown }): string;
