import { createHash } from 'node:crypto';
import { constants, createWriteStream, type Stats } from 'node:fs';
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
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { replaceFile } from '../../device/durable-file.ts';
import { isInsideFolder } from '../../device/inside-folder.ts';
import { followTrusted, openTrustedFolder } from '../../device/private-folder.ts';
import type { ChangedFile } from './record.ts';

/** Which files a job may change beside those of packages. Paths are where they are to be found. */
export interface FileScope {
  /** Files, and folders with all that is below them. */
  roots: readonly string[];
  /** Of these nothing counts. */
  excluded: readonly string[];
  /** Larger ones are left out. */
  mostFileBytes: number;
}

/** States by path. */
export type FileStates = ReadonlyMap<string, string>;

/** `file MODE UID GID SHA256` or `link TARGET`; undefined for all else. Times do not count. */
export async function stateOf(path: string, mostBytes = Infinity): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink() === true) return `link ${await readlink(path)}`;
  if (found?.isFile() !== true) return undefined;
  return withFile(path, async (file, entry) =>
    entry.size > mostBytes ? undefined : stateIn(entry, await sumIn(file)),
  );
}

export async function sumOf(path: string): Promise<string> {
  return withFile(path, sumIn);
}

function stateIn({ mode, uid, gid }: Stats, sum: string): string {
  return `file ${(mode & 0o7777).toString(8)} ${uid} ${gid} ${sum}`;
}

async function sumIn(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const pieces = file.createReadStream({ autoClose: false, start: 0 });
  for await (const piece of pieces) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** What stands there may have been replaced: no link is followed, and no fifo is waited for. */
async function withFile<Result>(
  path: string,
  work: (file: FileHandle, entry: Stats) => Promise<Result>,
): Promise<Result> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const entry = await file.stat();
    if (!entry.isFile()) throw new Error(`${path} is no file`);
    return await work(file, entry);
  } finally {
    await file.close();
  }
}

/**
 * What is there now. In a folder that somebody else can write names lead wherever they say: nothing
 * of it counts.
 */
export async function scanFiles(scope: FileScope): Promise<FileStates> {
  const found = new Map<string, string>();
  const isExcluded = (path: string): boolean =>
    scope.excluded.some((other) => path === other || isInsideFolder(path, other));
  const visit = async (path: string): Promise<void> => {
    if (isExcluded(path)) return;
    const entry = await lstat(path).catch(() => undefined);
    if (entry?.isDirectory() === true) {
      if (!isRootsAlone(entry)) return;
      for (const name of await readdir(path).catch(() => [])) await visit(join(path, name));
      return;
    }
    const state = await stateOf(path, scope.mostFileBytes).catch(() => undefined);
    if (state !== undefined) found.set(path, state);
  };
  for (const root of scope.roots) {
    const isTrusted = await followTrusted(dirname(root), undefined).then(
      () => true,
      () => false,
    );
    if (isTrusted) await visit(root);
  }
  return found;
}

function isRootsAlone({ uid, gid, mode }: Stats): boolean {
  const isOurs = uid === 0 || uid === process.getuid?.();
  return isOurs && (mode & (gid === process.getgid?.() ? 0o002 : 0o022)) === 0;
}

export async function sizeOf(states: FileStates): Promise<number> {
  let bytes = 0;
  for (const path of states.keys()) {
    bytes += (await lstat(path).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}

/** Name of the copy of a file: what it is a copy of is nothing that a folder should tell. */
export function copyName(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 32);
}

/** Copies contents with their times. What cannot be read is left out. */
export async function copyFiles(states: FileStates, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [path, state] of states) {
    if (!state.startsWith('file ')) continue;
    const copy = join(folder, copyName(path));
    // What went meanwhile, or has no room, does not come back; nor does what is another file now.
    const found = await copyFile(path, copy).catch(() => undefined);
    if (found !== state) await rm(copy, { force: true });
  }
}

/** @returns the state of what was copied */
function copyFile(path: string, copy: string): Promise<string> {
  return withFile(path, async (file, entry) => {
    const hash = createHash('sha256');
    await pipeline(
      file.createReadStream({ autoClose: false, start: 0 }),
      async function* (pieces: AsyncIterable<Buffer>) {
        for await (const piece of pieces) {
          hash.update(piece);
          yield piece;
        }
      },
      createWriteStream(copy, { mode: 0o600 }),
    );
    await utimes(copy, entry.atime, entry.mtime);
    return stateIn(entry, hash.digest('hex'));
  });
}

/** What is not the same in both, by path. */
export function changedFiles(before: FileStates, after: FileStates): ChangedFile[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    if (was === is) return [];
    return [
      { path, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) },
    ];
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
  await replaceFile(path, await readFile(copy), {
    ...{ mode: Number.parseInt(mode, 8), uid: Number(uid), gid: Number(gid) },
  });
  await utimes(path, atime, mtime);
}
