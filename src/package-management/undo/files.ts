import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  utimes,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../device/durable-file.ts';
import { isInsideFolder } from '../../device/inside-folder.ts';
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
  const entry = await lstat(path).catch(() => undefined);
  if (entry?.isSymbolicLink() === true) return `link ${await readlink(path)}`;
  if (entry?.isFile() !== true || entry.size > mostBytes) return undefined;
  const { mode, uid, gid } = entry;
  return `file ${(mode & 0o7777).toString(8)} ${uid} ${gid} ${await sumOf(path)}`;
}

export async function sumOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** What is there now. */
export async function scanFiles(scope: FileScope): Promise<FileStates> {
  const found = new Map<string, string>();
  const isExcluded = (path: string): boolean =>
    scope.excluded.some((other) => path === other || isInsideFolder(path, other));
  const visit = async (path: string): Promise<void> => {
    if (isExcluded(path)) return;
    const entry = await lstat(path).catch(() => undefined);
    if (entry?.isDirectory() === true) {
      for (const name of await readdir(path).catch(() => [])) await visit(join(path, name));
      return;
    }
    const state = await stateOf(path, scope.mostFileBytes).catch(() => undefined);
    if (state !== undefined) found.set(path, state);
  };
  for (const root of scope.roots) await visit(root);
  return found;
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
    try {
      const { atime, mtime } = await lstat(path);
      await copyFile(path, copy);
      await chmod(copy, 0o600);
      await utimes(copy, atime, mtime);
    } catch {
      // It went meanwhile, or there is no room: then it does not come back.
      await rm(copy, { force: true });
    }
  }
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

/** Puts a file back as it was, or removes it. @param folder of the copies */
export async function putFileBack({ path, before }: ChangedFile, folder: string): Promise<void> {
  if (before === undefined) return rm(path, { force: true });
  const [kind, ...words] = before.split(' ');
  if (kind === 'link') {
    await rm(path, { force: true });
    await mkdir(dirname(path), { recursive: true });
    return symlink(words.join(' '), path);
  }
  const [mode = '600', uid, gid] = words;
  const copy = join(folder, copyName(path));
  const { atime, mtime } = await lstat(copy);
  await replaceFile(path, await readFile(copy), {
    ...{ mode: Number.parseInt(mode, 8), uid: Number(uid), gid: Number(gid) },
  });
  await utimes(path, atime, mtime);
}
