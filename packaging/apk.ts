import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { toEntries, type PackageFiles } from './package-files.ts';
import { createTar, type TarEntry } from './tar.ts';

export type ApkScript =
  | 'pre-install'
  | 'post-install'
  | 'pre-upgrade'
  | 'post-upgrade'
  | 'pre-deinstall'
  | 'post-deinstall'
  | 'trigger';

/** A package in the words of apk. */
export interface ApkContents {
  /**
   * The lines of .PKGINFO in the order in which they are written, such as `['pkgname', 'demo']`;
   * `depend` and `provides` may stand there often. `size` and `datahash` are added.
   */
  info: readonly (readonly [key: string, value: string])[];
  files: PackageFiles;
  scripts?: Readonly<Partial<Record<ApkScript, string>>>;
  /** The time of every entry, in Unix seconds. */
  modifiedAt: number;
}

export interface Apk {
  bytes: Buffer;
  /** What databases and indexes know the package by: `Q1` and a checksum of its first half. */
  identity: string;
}

export interface ApkPackOptions {
  /** zlib's, 0 to 9; default 9. */
  compression?: number;
}

/** Two blocks of zeros, as createTar writes them. */
const END_BYTES = 1024;

/**
 * A package in apk's second format, which apk 3 installs, too: a compressed tar of what is known of
 * it and another one of its files, each with its checksum (apk-package(5), abuild-tar's --hash).
 * The same contents always give the same bytes.
 */
export function createApk(contents: ApkContents, { compression = 9 }: ApkPackOptions = {}): Apk {
  const { info, files, scripts = {}, modifiedAt } = contents;
  const entries = toEntries(files)
    .map(withoutDot)
    .filter(({ name }) => name !== '');
  const data = gzipSync(createTar(entries.flatMap(withChecksum), modifiedAt), {
    level: compression,
  });
  const sizeBytes = entries.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  const lines = [
    ...info,
    ['size', String(sizeBytes)] as const,
    ['datahash', createHash('sha256').update(data).digest('hex')] as const,
  ].map(([key, value]) => `${key} = ${value}\n`);
  const members = [
    { name: '.PKGINFO', mode: 0o644, content: Buffer.from(lines.join('')) },
    ...Object.entries(scripts).map(([name, content]) => ({
      name: `.${name}`,
      mode: 0o755,
      content: Buffer.from(content),
    })),
  ];
  const control = gzipSync(createUnendedTar(members, modifiedAt), { level: compression });
  return { bytes: Buffer.concat([control, data]), identity: `Q1${sha1(control, 'base64')}` };
}

/** A tar that another one follows: apk reads both halves of a package as one archive. */
export function createUnendedTar(entries: readonly TarEntry[], modifiedAt: number): Buffer {
  return createTar(entries, modifiedAt).subarray(0, -END_BYTES);
}

function withoutDot(entry: TarEntry): TarEntry {
  return { ...entry, name: entry.name.slice('./'.length) };
}

/** apk marks a package as broken if a file in it or a link comes without one. */
function withChecksum(entry: TarEntry): TarEntry[] {
  const content = entry.content ?? (entry.target === undefined ? undefined : entry.target);
  if (content === undefined) return [entry];
  const header = paxRecord(`APK-TOOLS.checksum.SHA1=${sha1(content, 'hex')}`);
  return [
    { name: `PaxHeaders/${entry.name}`.slice(0, 100), mode: 0o644, type: 'x', content: header },
    entry,
  ];
}

/** A record of a pax header begins with its own length, the digits of it and the newline too. */
function paxRecord(text: string): Buffer {
  const rest = ` ${text}\n`;
  const guess = rest.length + String(rest.length).length;
  const length = rest.length + String(guess).length;
  return Buffer.from(`${length}${rest}`);
}

function sha1(content: string | Buffer, encoding: 'hex' | 'base64'): string {
  return createHash('sha1').update(content).digest(encoding);
}
