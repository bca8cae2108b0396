import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { createTar, type TarEntry } from './tar.ts';

/** A file that a package brings: its text alone, or with a mode (0644 by default), or a symbolic link. */
export type PackageFile = string | { content: string | Buffer; mode?: number } | { target: string };

export interface PackageSource {
  name: string;
  version: string;
  architecture: string;
  /** Further control fields in the order in which they are written, such as Depends. */
  fields?: Readonly<Record<string, string>>;
  /** Absolute paths on the device. */
  files?: Readonly<Record<string, PackageFile>>;
  conffiles?: readonly string[];
  /** preinst, postinst, prerm, postrm (executable) and postinst-pkg and the like (sourced by those). */
  scripts?: Readonly<Record<string, string>>;
}

export interface Ipk {
  source: PackageSource;
  fileName: string;
  bytes: Buffer;
  sha256: string;
}

/** Above this, compressing would cost more than it is worth to a test. */
const COMPRESSED_BELOW_BYTES = 1024 ** 2;

/** The same source always gives the same bytes. */
export function createIpk(source: PackageSource): Ipk {
  const bytes = pack([
    { name: './debian-binary', mode: 0o644, content: Buffer.from('2.0\n') },
    { name: './data.tar.gz', mode: 0o644, content: pack(dataEntries(source)) },
    { name: './control.tar.gz', mode: 0o644, content: pack(controlEntries(source)) },
  ]);
  const fileName = `${source.name}_${source.version}_${source.architecture}.ipk`;
  return { source, fileName, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** The control file, as the package carries it and, with further fields, as an index lists it. */
export function controlText(source: PackageSource, further: Readonly<Record<string, string>> = {}): string {
  const { Description: description, ...fields } = source.fields ?? {};
  const all = {
    Package: source.name,
    Version: source.version,
    ...fields,
    Architecture: source.architecture,
    ...further,
    Description: description ?? `${source.name} test package`,
  };
  return Object.entries(all).map(([field, value]) => `${field}: ${value}\n`).join('');
}

function controlEntries(source: PackageSource): TarEntry[] {
  const files: Record<string, TarEntry> = { control: text('./control', 0o644, controlText(source)) };
  if (source.conffiles !== undefined) files.conffiles = text('./conffiles', 0o644, lines(source.conffiles));
  for (const [name, script] of Object.entries(source.scripts ?? {})) {
    files[name] = text(`./${name}`, name.includes('-') ? 0o644 : 0o755, script);
  }
  return [folder('./'), ...Object.keys(files).sort().flatMap((name) => files[name] ?? [])];
}

function dataEntries(source: PackageSource): TarEntry[] {
  const paths = Object.keys(source.files ?? {}).sort();
  const folders = new Set(paths.flatMap(parentsOf));
  const entries = [...[...folders].map(folder), ...Object.entries(source.files ?? {}).map(([path, file]) => toEntry(`.${path}`, file))];
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return ['./', ...parts.map((_, at) => `./${parts.slice(0, at + 1).join('/')}/`)];
}

function toEntry(name: string, file: PackageFile): TarEntry {
  if (typeof file === 'string') return text(name, 0o644, file);
  if ('target' in file) return { name, mode: 0o777, target: file.target };
  return { name, mode: file.mode ?? 0o644, content: Buffer.from(file.content) };
}

function folder(name: string): TarEntry {
  return { name, mode: 0o755 };
}

function text(name: string, mode: number, content: string): TarEntry {
  return { name, mode, content: Buffer.from(content) };
}

function lines(values: readonly string[]): string {
  return values.map((value) => `${value}\n`).join('');
}

function pack(entries: readonly TarEntry[]): Buffer {
  const tar = createTar(entries);
  return gzipSync(tar, { level: tar.length < COMPRESSED_BELOW_BYTES ? 6 : 0 });
}
