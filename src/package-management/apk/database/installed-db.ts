import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DepotError } from '../../../errors.ts';
import type { FileRecord } from '../../listing.ts';
import { namesIn } from './world.ts';
import { damagedRecord, streamRecord } from './record-file.ts';

export type InstalledRecord = NonNullable<ReturnType<typeof recordOf>>;

/** A file that a package has on record, relative to the root. */
export interface RecordedFile {
  path: string;
  /** `Q1` and the base64 of 20 bytes; empty if there is none. */
  hash: string;
  /** Mode and owner where they are not 0644 and root's. */
  mode?: number;
  uid?: number;
}

export interface ReadOptions {
  /** Packages whose files are read, too; a record has thousands, so nobody else's are kept. */
  filesOf?: (name: string) => boolean;
  onFile?: (file: RecordedFile, owner: string) => void;
  /** Has each package's fields, whether they mean something here or not. */
  onFields?: (fields: ReadonlyMap<string, string>) => void;
}

/**
 * Reads the record of what is installed as a stream: it has every file of the system and is
 * megabytes. Unknown fields are passed over. What a killed program or a broken disk leaves is
 * refused: a line without a field, a package without name or version, an end in the middle.
 * @throws DepotError unavailable that names file and line
 */
export async function readInstalled(
  file: string,
  options: ReadOptions = {},
): Promise<Map<string, InstalledRecord>> {
  return parseInstalled(streamRecord(file), { name: file, ...options });
}

/** @param options `name` for messages */
export async function parseInstalled(
  source: AsyncIterable<Buffer>,
  options: ReadOptions & { name: string },
): Promise<Map<string, InstalledRecord>> {
  const parser = createParser(options.name, options);
  let left: Buffer = Buffer.alloc(0);
  for await (const piece of source) {
    const chunk = left.length === 0 ? piece : Buffer.concat([left, piece]);
    let from = 0;
    for (let end = 0; end < chunk.length; end += 1) {
      // Byte by byte: a call of indexOf for each line takes five times as long.
      if (chunk[end] !== NEWLINE) continue;
      parser.line(chunk, from, end);
      from = end + 1;
    }
    left = chunk.subarray(from);
    if (left.length > MOST_LINE_BYTES) throw parser.damage('a line without an end');
  }
  if (left.length > 0) throw parser.damage('it ends in the middle of a line');
  return parser.end();
}

const NEWLINE = 0x0a;
const COLON = 0x3a;
const FOLDER = 0x46;
const FILE = 0x52;
const HASH = 0x5a;
const RIGHTS = 0x61;
const MOST_LINE_BYTES = 1024 ** 2;

function createParser(path: string, { filesOf, onFile, onFields }: ReadOptions) {
  const found = new Map<string, InstalledRecord>();
  let number = 0;
  let fields = new Map<number, string>();
  let isInFiles = false;
  /** The file whose hash may follow. */
  let file: RecordedFile | undefined;
  let folder = '';
  let owner: string | undefined;

  const damage = (what: string): DepotError =>
    damagedRecord(`cannot read ${path}: line ${number}: ${what}`);
  const flush = (): void => {
    if (file !== undefined && owner !== undefined) onFile?.(file, owner);
    file = undefined;
  };
  const finishFields = (): void => {
    const record = recordOf(fields);
    if (record === undefined) throw damage('a package without name or version');
    if (found.has(record.name)) throw damage(`${record.name} stands there twice`);
    found.set(record.name, record);
    onFields?.(new Map([...fields].map(([letter, text]) => [String.fromCharCode(letter), text])));
    owner = filesOf?.(record.name) === true ? record.name : undefined;
  };
  const finishPackage = (): void => {
    if (!isInFiles && fields.size > 0) finishFields();
    flush();
    fields = new Map();
    isInFiles = false;
  };
  const fileLine = (kind: number, text: string): void => {
    if (kind === FOLDER) {
      flush();
      folder = text;
    } else if (kind === FILE) {
      flush();
      file = { path: folder === '' ? text : `${folder}/${text}`, hash: '' };
    } else if (kind === HASH && file !== undefined) file.hash = text;
    else if (kind === RIGHTS && file !== undefined) {
      const [uid = '', , mode = ''] = text.split(':');
      Object.assign(file, { uid: Number(uid), mode: parseInt(mode, 8) });
    }
  };

  return {
    damage,
    /** Reads one line, without its end. */
    line: (chunk: Buffer, from: number, end: number): void => {
      number += 1;
      if (end === from) {
        finishPackage();
        return;
      }
      if (chunk[from + 1] !== COLON || end < from + 2) throw damage('it is no field');
      // Nine lines in ten are files of packages that nobody asked for.
      if (isInFiles && owner === undefined) return;
      const kind = chunk[from] ?? 0;
      if (kind === FOLDER && !isInFiles) {
        finishFields();
        isInFiles = true;
      }
      const text = chunk.toString('utf8', from + 2, end);
      if (isInFiles) fileLine(kind, text);
      else if (onFields !== undefined || WANTED.has(kind)) fields.set(kind, text);
    },
    end: (): Map<string, InstalledRecord> => {
      if (fields.size > 0) throw damage('it ends in the middle of a package');
      return found;
    },
  };
}

const WANTED: ReadonlySet<number> = new Set(Buffer.from('PVAoDpriIf'));

/** What `lib/apk/db/installed` says of one package; undefined if it lacks name or version. */
function recordOf(fields: ReadonlyMap<number, string>) {
  const text = (letter: string): string => fields.get(letter.charCodeAt(0)) ?? '';
  const [name, version, flags] = [text('P'), text('V'), text('f')];
  if (name === '' || version === '') return undefined;
  return {
    name,
    version,
    architecture: text('A'),
    origin: text('o'),
    depends: namesIn(text('D')),
    provides: namesIn(text('p')),
    replaces: namesIn(text('r')),
    /** The package comes by itself if all of these are there. */
    installIf: namesIn(text('i')),
    installedBytes: Number(text('I')) || 0,
    /** Some of its files could not be written (`f:f`). */
    hasBrokenFiles: flags.includes('f'),
    /** Whether a script of the package failed (`f:s`). */
    hasBrokenScript: flags.includes('s'),
    /** Hashes of files are SHA-256, cut to 20 bytes; else SHA-1. */
    hasSha256: flags.includes('S'),
  };
}

/** The files of some packages, with their owners, and the records of all. */
export async function readFilesOf(file: string, isWanted: (name: string) => boolean) {
  const files: (RecordedFile & { owner: string })[] = [];
  const records = await readInstalled(file, {
    filesOf: isWanted,
    onFile: (entry, owner) => void files.push({ ...entry, owner }),
  });
  return { records, files };
}

/** The identity (`C:`) of each package: two builds of one version differ in it. */
export async function readHashes(file: string): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  await readInstalled(file, {
    onFields: (fields) => void hashes.set(fields.get('P') ?? '', fields.get('C') ?? ''),
  });
  return hashes;
}

/** All fields of one package by their letter, and its files. */
export async function readFields(file: string, name: string) {
  const files: RecordedFile[] = [];
  let found: ReadonlyMap<string, string> | undefined;
  await readInstalled(file, {
    filesOf: (owner) => owner === name,
    onFile: (entry) => void files.push(entry),
    onFields: (fields) => {
      if (fields.get('P') === name) found = fields;
    },
  });
  if (found === undefined) throw new Error(`${name} is not on record`);
  return { fields: found, files };
}

/** What starts programs is no setting, though an upgrade would leave it as it is. */
const PROGRAMS = /^\/etc\/(?:init|rc|hotplug)\.d\//;

/** apk has a hash of each file; which are configuration, OpenWrt's lists beside it say. */
export async function fileRecords(installed: string, listFolder: string): Promise<FileRecord[]> {
  const config = await configLines(listFolder);
  const isConfig = (path: string): boolean =>
    !PROGRAMS.test(path) &&
    (config.has(path) || [...config].some((line) => line.endsWith('/') && path.startsWith(line)));
  const { records, files } = await readFilesOf(installed, () => true);
  return files.map(({ path: name, hash, mode = 0o644, uid = 0, owner }) => {
    const path = `/${name}`;
    const algorithm = records.get(owner)?.hasSha256 === true ? 'sha256' : 'sha1';
    const digits = Buffer.from(hash.slice('Q1'.length), 'base64').toString('hex');
    return {
      owner,
      path,
      isConfig: isConfig(path),
      ...(digits === '' ? {} : { hash: { algorithm, digits } }),
      mode,
      uid,
    };
  });
}

async function configLines(folder: string): Promise<Set<string>> {
  const names = (await readdir(folder).catch(() => [])).filter((name) =>
    name.endsWith('.conffiles'),
  );
  const texts = names.map((name) => readFile(join(folder, name), 'utf8').catch(() => ''));
  return new Set((await Promise.all(texts)).flatMap((text) => text.split('\n')).filter(Boolean));
}
