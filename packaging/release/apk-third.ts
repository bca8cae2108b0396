import { createHash } from 'node:crypto';
import type { ApkContents, ApkScript } from '../apk.ts';
import { toEntries } from '../package-files.ts';
import type { TarEntry } from '../tar.ts';
import { adbBlock, adbFile, BLOCK, createAdbWriter, type AdbValue, type AdbWriter } from './adb.ts';
import { signAdb, type ApkKey } from './apk-key.ts';

/** Field numbers of apk-tools' src/apk_adb.h. */
const INFO: Readonly<Record<string, number>> = {
  pkgname: 1,
  pkgver: 2,
  pkgdesc: 4,
  arch: 5,
  license: 6,
  origin: 7,
  url: 9,
};
const HASHES = 3;
const BUILD_TIME = 11;
const INSTALLED_SIZE = 12;
const FILE_SIZE = 13;
const PROVIDER_PRIORITY = 14;
const LISTS = { depend: 15, provides: 16, replaces: 17 } as const;
const SCRIPTS: Readonly<Record<ApkScript, number>> = {
  trigger: 1,
  'pre-install': 2,
  'post-install': 3,
  'pre-deinstall': 4,
  'post-deinstall': 5,
  'pre-upgrade': 6,
  'post-upgrade': 7,
};
const SYMLINK = 0o120000;
const IDENTITY_BYTES = 20;

export interface ThirdApk {
  bytes: Buffer;
  /** What an index knows it by. */
  listed: Listed;
}

export interface Listed {
  info: ApkContents['info'];
  installedBytes: number;
  fileBytes: number;
  hash: Buffer;
}

/**
 * A package in apk's third format, which carries its signatures itself; apk takes it without
 * `--allow-untrusted` from whoever has one of the keys. All files are root's.
 */
export function createThirdApk(contents: ApkContents, keys: readonly ApkKey[]): ThirdApk {
  const { info, scripts = {}, modifiedAt } = contents;
  const entries = toEntries(contents.files)
    .map((entry) => ({ ...entry, name: entry.name.slice('./'.length) }))
    .filter(({ name }) => name !== '');
  const folders = byFolder(entries);
  const installedBytes = Math.max(
    1,
    entries.reduce((sum, { content }) => sum + (content?.length ?? 0), 0),
  );
  const writer = createAdbWriter();
  const identity = writer.room(IDENTITY_BYTES);
  const database = writer.finish(
    writer.object({
      1: writeInfo(writer, info, {
        [HASHES]: identity.value,
        [INSTALLED_SIZE]: writer.number(installedBytes),
      }),
      2: writer.array(
        folders.map(([folder, files]) => writeFolder(writer, folder, { files, modifiedAt })),
      ),
      3: writer.object(
        Object.fromEntries(
          Object.entries(scripts).map(([name, text]) => [
            SCRIPTS[name as ApkScript],
            writer.blob(text),
          ]),
        ),
      ),
    }),
  );
  // It is its own, of the block in which it is not there yet.
  hashOf('sha256', database).copy(database, identity.at, 0, IDENTITY_BYTES);
  const bytes = adbFile('pckg', {
    database,
    signatures: keys.map((key) => signAdb('pckg', database, key)),
    data: folders.flatMap(([, files], folder) =>
      files.flatMap(({ content = EMPTY }, file) =>
        content.length === 0
          ? []
          : [adbBlock(BLOCK.data, Buffer.concat([placeOf(folder), placeOf(file), content]))],
      ),
    ),
  });
  const hash = hashOf('sha256', database);
  return { bytes, listed: { info, installedBytes, fileBytes: bytes.length, hash } };
}

/** An index of apk's third format: `packages.adb`. */
export function createApkIndex(packages: readonly Listed[], keys: readonly ApkKey[]): Buffer {
  const writer = createAdbWriter();
  const items = [...packages].sort(
    (one, other) =>
      byBytes(fieldOf(one.info, 'pkgname'), fieldOf(other.info, 'pkgname')) ||
      byBytes(fieldOf(one.info, 'pkgver'), fieldOf(other.info, 'pkgver')),
  );
  const database = writer.finish(
    writer.object({
      2: writer.array(
        items.map(({ info, installedBytes, fileBytes, hash }) =>
          writeInfo(writer, info, {
            [HASHES]: writer.blob(hash),
            [INSTALLED_SIZE]: writer.number(installedBytes),
            [FILE_SIZE]: writer.number(fileBytes),
          }),
        ),
      ),
    }),
  );
  const signatures = keys.map((key) => signAdb('indx', database, key));
  return adbFile('indx', { database, signatures, data: [] });
}

const EMPTY = Buffer.alloc(0);

/** Places count from 1. */
function placeOf(index: number): Buffer {
  const place = Buffer.alloc(4);
  place.writeUInt32LE(index + 1);
  return place;
}

/** Both sorted: apk looks for names by halves. */
function byFolder(entries: readonly TarEntry[]): [folder: string, files: TarEntry[]][] {
  const folders = new Map<string, TarEntry[]>();
  for (const { name } of entries) if (name.endsWith('/')) folders.set(name.slice(0, -1), []);
  for (const entry of entries) {
    const cut = entry.name.lastIndexOf('/');
    const name = entry.name.slice(cut + 1);
    if (name !== '') folders.get(entry.name.slice(0, cut))?.push({ ...entry, name });
  }
  const sorted = [...folders].sort(([one], [other]) => byBytes(one, other));
  for (const [, files] of sorted) files.sort((one, other) => byBytes(one.name, other.name));
  return sorted;
}

function writeInfo(
  writer: AdbWriter,
  info: ApkContents['info'],
  more: Record<number, AdbValue>,
): AdbValue {
  const texts = info.flatMap(([key, value]) => {
    const field = INFO[key];
    return field === undefined ? [] : [[field, writer.blob(value)] as const];
  });
  const lists = Object.entries(LISTS).map(([key, field]): [number, AdbValue] => {
    const words = info.filter(([name]) => name === key).map(([, value]) => value);
    return [field, writer.array(words.sort(byName).map((item) => writeDependency(writer, item)))];
  });
  const time = fieldOf(info, 'builddate');
  const priority = fieldOf(info, 'provider_priority');
  const fields: Record<number, AdbValue> = Object.fromEntries([...texts, ...lists]);
  return writer.object({
    ...fields,
    ...(time === '' ? {} : { [BUILD_TIME]: writer.number(Number(time)) }),
    ...(priority === '' ? {} : { [PROVIDER_PRIORITY]: writer.number(Number(priority)) }),
    ...more,
  });
}

/** Bits of apk's comparison: 1 equal, 2 less, 4 greater. Without a mask it is `=`. */
const MATCHES: Readonly<Record<string, number>> = { '<': 2, '<=': 3, '>': 4, '>=': 5 };
const DEPENDENCY = /^([A-Za-z0-9][\w.+-]*)(?:(<=|>=|<|>|=)(.+))?$/;

function writeDependency(writer: AdbWriter, text: string): AdbValue {
  const [, name, operator = '', version] = DEPENDENCY.exec(text) ?? [];
  if (name === undefined) throw new Error(`cannot write the dependency ${text}`);
  const match = MATCHES[operator];
  return writer.object({
    1: writer.blob(name),
    ...(version === undefined ? {} : { 2: writer.blob(version) }),
    ...(match === undefined ? {} : { 3: writer.number(match) }),
  });
}

function writeFolder(
  writer: AdbWriter,
  name: string,
  { files, modifiedAt }: { files: readonly TarEntry[]; modifiedAt: number },
): AdbValue {
  return writer.object({
    1: writer.blob(name),
    2: writeOwner(writer, 0o755),
    3: writer.array(files.map((file) => writeFile(writer, file, modifiedAt))),
  });
}

function writeFile(
  writer: AdbWriter,
  { name, mode, content, target }: TarEntry,
  modifiedAt: number,
): AdbValue {
  const kind =
    target === undefined
      ? { 5: writer.blob(hashOf('sha256', content ?? EMPTY)) }
      : { 6: writer.blob(Buffer.concat([linkMark(), Buffer.from(target)])) };
  return writer.object({
    1: writer.blob(name),
    2: writeOwner(writer, mode),
    3: writer.number(target === undefined ? (content?.length ?? 0) : Buffer.byteLength(target)),
    4: writer.number(modifiedAt),
    ...kind,
  });
}

function linkMark(): Buffer {
  const mark = Buffer.alloc(2);
  mark.writeUInt16LE(SYMLINK);
  return mark;
}

function writeOwner(writer: AdbWriter, mode: number): AdbValue {
  return writer.object({
    1: writer.number(mode),
    2: writer.blob('root'),
    3: writer.blob('root'),
  });
}

function fieldOf(info: ApkContents['info'], name: string): string {
  return info.find(([key]) => key === name)?.[1] ?? '';
}

function byName(one: string, other: string): number {
  return byBytes(one.replace(/[<>=].*/, ''), other.replace(/[<>=].*/, ''));
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

export function hashOf(algorithm: 'sha256' | 'sha512', content: Buffer): Buffer {
  return createHash(algorithm).update(content).digest();
}
