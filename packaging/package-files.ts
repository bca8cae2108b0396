import type { TarEntry } from './tar.ts';

/**
 * A file that a package brings: its text alone, or with a mode (0644 by default), or a symbolic
 * link.
 */
export type PackageFile = string | { content: string | Buffer; mode?: number } | { target: string };

/** Files by their absolute path on the device. */
export type PackageFiles = Readonly<Record<string, PackageFile>>;

/** The files with the folders that they lie in, in the order of their names. */
export function toEntries(files: PackageFiles): TarEntry[] {
  const folders = new Set(['./', ...Object.keys(files).flatMap(parentsOf)]);
  const entries = [
    ...[...folders].map(folder),
    ...Object.entries(files).map(([path, file]) => toEntry(`.${path}`, file)),
  ];
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** What the files take when they are unpacked. */
export function installedBytes(files: PackageFiles): number {
  return toEntries(files).reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
}

const BLOCK_BYTES = 512;
const RECORD_BYTES = 20 * BLOCK_BYTES;

/**
 * The size of the files as an archive of GNU tar's, which fills it up to a whole record: OpenWrt's
 * builder writes that as Installed-Size (docs/reference/opkg.md).
 */
export function archiveBytes(files: PackageFiles): number {
  const blocks = toEntries(files).map(
    ({ content }) => 1 + Math.ceil((content?.length ?? 0) / BLOCK_BYTES),
  );
  const end = 2;
  const total = blocks.reduce((sum, count) => sum + count, end) * BLOCK_BYTES;
  return Math.ceil(total / RECORD_BYTES) * RECORD_BYTES;
}

function parentsOf(path: string): string[] {
  const names = path.split('/').slice(1, -1);
  return names.map((_, at) => `./${names.slice(0, at + 1).join('/')}/`);
}

function folder(name: string): TarEntry {
  return { name, mode: 0o755 };
}

function toEntry(name: string, file: PackageFile): TarEntry {
  if (typeof file === 'string') return { name, mode: 0o644, content: Buffer.from(file) };
  if ('target' in file) return { name, mode: 0o777, target: file.target };
  return { name, mode: file.mode ?? 0o644, content: Buffer.from(file.content) };
}
