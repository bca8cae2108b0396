import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { allBytes, createByteReader } from '../../../device/byte-reader.ts';
import { readPart } from '../../../device/owner-file.ts';
import { readTar } from '../../../device/tar/tar-reader.ts';
import { asUnusableFile } from '../../failure.ts';
import { limitedGunzip } from '../../limited-gunzip.ts';
import { createNameBudget, type NameBudget } from '../../names.ts';
import { readAdb, type AdbObject } from './adb-reader.ts';

/** What a package file says of itself. */
export interface PackageContent {
  name: string;
  version: string;
  /** Names the source that packages were made of together. */
  origin: string;
  /** Each entry is one dependency, by one name. */
  depends: string[][];
  installedBytes: number | undefined;
  /** Names of packages whose files it may take over. */
  replaces: string[];
  /** Files and links of the package, relative to the root. */
  files: string[];
  /** Folders of the package, so far as it names them. */
  folders: string[];
}

/**
 * Reads a package file, told by its content: apk's own format (`ADB`), of which the description
 * stands first, or the older one, two compressed tar archives of which the first has `.PKGINFO`.
 * @param mostBytes bounds what is unpacked
 * @throws DepotError bad_request that says what is wrong; no_space if it would unpack to more
 */
export async function readPackageFile(file: string, mostBytes: number): Promise<PackageContent> {
  try {
    const head = (await readPart(file, 6)).toString('latin1');
    if (!head.startsWith('ADB') && !head.startsWith(GZIP)) {
      throw new Error('it begins neither as a package of apk does nor as a compressed archive');
    }
    const content = head.startsWith('ADB')
      ? await readThird(file, head)
      : await readSecond(file, mostBytes);
    if (!/^[!-~]+$/.test(content.version)) {
      throw new Error(`its version is ${JSON.stringify(content.version.slice(0, 40))}`);
    }
    const outside = [...content.files, ...content.folders].find(isOutside);
    if (outside !== undefined) {
      throw new Error(`it would unpack "${outside.slice(0, 200)}" outside of the root`);
    }
    return content;
  } catch (error) {
    throw asUnusableFile(error);
  }
}

/** RFC 1952. */
const GZIP = '\u001f\u008b';

function isOutside(path: string): boolean {
  return path.startsWith('/') || path.split('/').some((part) => part === '..' || part === '.');
}

/** A description names every file of a package: far less than this. */
const MOST_DESCRIPTION_BYTES = 16 * 1024 ** 2;
/** The format, unpacked, and its schema. */
const PACKAGE_MARK = 'ADB.pckg';

/** `ADB.` plain, `ADBd` deflated, `ADBc` with a byte that says how and one for the level. */
async function readThird(file: string, head: string): Promise<PackageContent> {
  const packed = head.startsWith('ADBc')
    ? { isDeflated: head.charCodeAt(4) === 1, isPlain: head.charCodeAt(4) === 0, from: 6 }
    : { isDeflated: head.startsWith('ADBd'), isPlain: head.startsWith('ADB.'), from: 4 };
  if (!packed.isDeflated && !packed.isPlain) {
    throw new Error('it is packed in a way that this device cannot unpack');
  }
  const source = createReadStream(file, { start: packed.isPlain ? 0 : packed.from });
  const stream = packed.isPlain ? source : pipeline(source, createInflateRaw(), () => undefined);
  try {
    const reader = createByteReader(stream);
    const start = await reader.read(12);
    if (start?.toString('latin1', 0, 8) !== PACKAGE_MARK) throw new Error('it is no package');
    const block = start.readUInt32LE(8);
    const sizeBytes = (block & 0x3fffffff) - 4;
    if (block >>> 30 !== 0 || sizeBytes > MOST_DESCRIPTION_BYTES) {
      throw new Error('its description does not come first, or is too large');
    }
    const description = await reader.read(sizeBytes);
    const spend = createNameBudget();
    return describe(readAdb(description ?? Buffer.alloc(0), spend), spend);
  } finally {
    source.destroy();
    stream.destroy();
  }
}

/** Numbers of fields (apk-tools 3.0.5, src/apk_adb.h). */
const PACKAGE = { info: 1, paths: 2 };
const INFO = { name: 1, version: 2, origin: 7, installedSize: 12, depends: 15, replaces: 17 };
const FOLDER = { name: 1, files: 3 };
const FIRST = 1;

function describe(root: AdbObject, spend: NameBudget): PackageContent {
  const info = root.object(PACKAGE.info);
  const [name, version] = [textOf(info, INFO.name), textOf(info, INFO.version)];
  if (info === undefined || name === '' || version === '') {
    throw new Error('it names no package or no version');
  }
  const replaces = [...info.objects(INFO.replaces)].map((entry) => textOf(entry, FIRST));
  const depends = [...info.objects(INFO.depends)].map((entry) => [textOf(entry, FIRST)]);
  const origin = textOf(info, INFO.origin);
  const installedBytes = info.number(INFO.installedSize);
  return { name, version, origin, depends, installedBytes, replaces, ...pathsOf(root, spend) };
}

function pathsOf(root: AdbObject, spend: NameBudget): Pick<PackageContent, 'files' | 'folders'> {
  const files: string[] = [];
  const folders: string[] = [];
  for (const folder of root.objects(PACKAGE.paths)) {
    const path = textOf(folder, FOLDER.name);
    if (path !== '') folders.push(path);
    for (const file of folder.objects(FOLDER.files)) {
      const base = textOf(file, FIRST);
      spend(path);
      files.push(path === '' ? base : `${path}/${base}`);
    }
  }
  return { files, folders };
}

function textOf(object: AdbObject | undefined, field: number): string {
  return object?.text(field) ?? '';
}

const MOST_INFO_BYTES = 256 * 1024;

async function readSecond(file: string, mostBytes: number): Promise<PackageContent> {
  const members = readTar(limitedGunzip(mostBytes)(createReadStream(file)));
  const files: string[] = [];
  const folders: string[] = [];
  const spend = createNameBudget();
  let info: string | undefined;
  for await (const { name, type, sizeBytes, content } of members) {
    if (name === '.PKGINFO' && info === undefined) {
      if (sizeBytes > MOST_INFO_BYTES) throw new Error('its .PKGINFO is too large');
      info = (await allBytes(content)).toString('utf8');
    } else if (!name.startsWith('.') || name.startsWith('..')) {
      if (info === undefined) throw new Error('it has no .PKGINFO');
      spend(name);
      if (type === '5') folders.push(withoutSlash(name));
      else files.push(name);
    } else if (name.startsWith('./')) {
      throw new Error('it is a package of another kind');
    }
  }
  return { ...parseInfo(info), files, folders };
}

/** Not by a pattern, which would look at each slash of a thousand anew. */
function withoutSlash(name: string): string {
  let end = name.length;
  while (name[end - 1] === '/') end -= 1;
  return name.slice(0, end);
}

/** `key = value` lines. */
function parseInfo(info: string | undefined): Omit<PackageContent, 'files' | 'folders'> {
  const pairs = (info ?? '').split('\n').map((line) => line.split(' = '));
  const all = (key: string): string[] =>
    pairs.flatMap(([name, ...rest]) => (name === key ? [rest.join(' = ').trim()] : []));
  const [name = ''] = all('pkgname');
  const [version = ''] = all('pkgver');
  const [origin = ''] = all('origin');
  if (name === '' || version === '') throw new Error('its .PKGINFO names no package or no version');
  const namesOf = (key: string): string[] => all(key).map((text) => text.replace(/[<>=~@].*$/, ''));
  const depends = namesOf('depend').map((entry) => [entry]);
  const [size] = all('size').map(Number).filter(Number.isSafeInteger);
  const replaces = namesOf('replaces');
  return { name, version, origin, depends, installedBytes: size, replaces };
}
