import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import {
  lstat,
  open,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { replaceFile } from '../../device/durable-file.ts';
import { isAtOrIn } from '../../device/inside-folder.ts';
import { READ } from '../../device/owner-file.ts';
import { followTrusted, isOfRoot, openTrustedFolder } from '../../device/private-folder.ts';
import { unlessShort } from '../../device/shortage.ts';
import type { ChangedFile } from './undo-record.ts';

/** Which files a job may change beside those of packages. Paths are where they are to be found. */
export interface FileScope {
  /** Files, and folders with all that is below them. */
  roots: readonly string[];
  /** Files and folders that do not count, though they lie below a root. */
  excluded: readonly string[];
  /** Larger ones are left out. */
  mostFileBytes: number;
}

/** States by path: as `stateOf` says them, or UNKNOWN. */
export type FileStates = ReadonlyMap<string, string>;

/** The state of a file too large or unreadable: it counts neither as changed nor as new. */
const UNKNOWN = 'unknown';

/** `file MODE UID GID SHA256` or `link TARGET`; undefined for all else. Times do not count. */
export async function stateOf(path: string, mostBytes = Infinity): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found === undefined ? undefined : stateAt(path, found, mostBytes);
}

async function stateAt(path: string, found: Stats, mostBytes: number): Promise<string | undefined> {
  if (found.isSymbolicLink()) return `link ${await readlink(path)}`;
  if (!found.isFile()) return undefined;
  return withFile(path, async (file, entry) =>
    entry.size > mostBytes ? undefined : stateIn(entry, await sumIn(file, entry)),
  );
}

export async function sumOf(path: string): Promise<string> {
  return withFile(path, sumIn);
}

function stateIn({ mode, uid, gid }: Stats, sum: string): string {
  return `file ${(mode & 0o7777).toString(8)} ${uid} ${gid} ${sum}`;
}

async function sumIn(file: FileHandle, entry: Stats): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of piecesOf(file, entry)) hash.update(piece);
  return hash.digest('hex');
}

const MOST_PIECE_BYTES = 64 * 1024;

/** Pieces of a file, each valid until the next one. For a small one a stream would cost more. */
async function* piecesOf(file: FileHandle, { size }: Stats): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(Math.min(MOST_PIECE_BYTES, size + 1));
  for (let at = 0, isEnd = false; !isEnd;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    at += bytesRead;
    isEnd = bytesRead < buffer.length;
    yield buffer.subarray(0, bytesRead);
  }
}

/** One after the other they would mostly wait for the system. */
const AT_ONCE = 8;

async function forEach<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>) {
  const all = [...items];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    await Promise.all(all.slice(from, from + AT_ONCE).map(work));
  }
}

async function withFile<Result>(
  path: string,
  work: (file: FileHandle, entry: Stats) => Promise<Result>,
): Promise<Result> {
  await using file = await open(path, READ);
  const entry = await file.stat();
  if (!entry.isFile()) throw new Error(`${path} is no file`);
  return await work(file, entry);
}

/**
 * What is there now. In a folder that somebody else can write names lead wherever they say: nothing
 * of it counts. A file unread for a shortage must not pass for an absent one: an undo would remove
 * it.
 */
export async function scanFiles(scope: FileScope): Promise<FileStates> {
  const entries: [string, Stats][] = [];
  const isExcluded = (path: string): boolean =>
    scope.excluded.some((other) => isAtOrIn(path, other));
  const visit = async (path: string): Promise<void> => {
    if (isExcluded(path)) return;
    const entry = await lstat(path).catch(() => undefined);
    if (entry?.isDirectory() === true) {
      if (!isRootsAlone(entry)) return;
      for (const name of await readdir(path).catch(unlessShort([]))) await visit(join(path, name));
      return;
    }
    if (entry !== undefined) entries.push([path, entry]);
  };
  for (const root of scope.roots) {
    const isTrusted = await followTrusted(dirname(root), undefined).then(
      () => true,
      unlessShort(false),
    );
    if (isTrusted) await visit(root);
  }
  const found = new Map<string, string>();
  await forEach(entries, async ([path, entry]) => {
    const state = await stateAt(path, entry, scope.mostFileBytes).catch(unlessShort(undefined));
    found.set(path, state ?? UNKNOWN);
  });
  return found;
}

function isRootsAlone(entry: Stats): boolean {
  const others = entry.gid === process.getgid?.() ? 0o002 : 0o022;
  return isOfRoot(entry) && (entry.mode & others) === 0;
}

export async function sizeOf(states: FileStates): Promise<number> {
  let bytes = 0;
  await forEach(states, async ([path, state]) => {
    if (state === UNKNOWN) return;
    const entry = await lstat(path).catch(() => undefined);
    bytes += entry?.size ?? 0;
  });
  return bytes;
}

/** Name of the copy of a file: what it is a copy of is nothing that a folder should tell. */
export function copyName(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 32);
}

/** Copies contents with their times. What cannot be read is left out. */
export async function copyFiles(states: FileStates, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await forEach(states, async ([path, state]) => {
    if (!state.startsWith('file ')) return;
    const copy = join(folder, copyName(path));
    // No copy is kept of a file that has gone or changed meanwhile, or that finds no room.
    const found = await copyFile(path, copy).catch(unlessShort(undefined));
    if (found !== state) await rm(copy, { force: true });
  });
}

/** @returns the state of what was copied */
function copyFile(path: string, copy: string): Promise<string> {
  return withFile(path, async (file, entry) => {
    const hash = createHash('sha256');
    const pieces = async function* () {
      for await (const piece of piecesOf(file, entry)) {
        hash.update(piece);
        yield piece;
      }
    };
    await writeFile(copy, pieces(), { mode: 0o600 });
    await utimes(copy, entry.atime, entry.mtime);
    return stateIn(entry, hash.digest('hex'));
  });
}

/** What is not the same in both, by path. */
export function changedFiles(before: FileStates, after: FileStates): ChangedFile[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    const isSame = was === is || was === UNKNOWN || is === UNKNOWN;
    return isSame ? [] : [{ path, before: was, after: is }];
  });
}

/**
 * Puts a file back as it was, or removes it.
 * @param folder of the copies
 * @throws DepotError unavailable if somebody else can say where its folder leads
 */
export async function putFileBack(file: ChangedFile, folder: string): Promise<void> {
  const { before } = file;
  const isThere = (await lstat(file.path).catch(() => undefined)) !== undefined;
  if (before === undefined && !isThere) return;
  const path = join(await openTrustedFolder(dirname(file.path), 0o755), basename(file.path));
  if (before === undefined) return rm(path, { force: true });
  const [kind, ...words] = before.split(' ');
  if (kind === 'link') {
    await rm(path, { force: true });
    return symlink(words.join(' '), path);
  }
  const [mode = '600', uid, gid] = words;
  const copy = join(folder, copyName(file.path));
  const { atime, mtime } = await lstat(copy);
  const owner = { mode: Number.parseInt(mode, 8), uid: Number(uid), gid: Number(gid) };
  await replaceFile(path, await readFile(copy), owner);
  await utimes(path, atime, mtime);
}
