import { constants } from 'node:fs';
import { lstat, open, readFile, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DepotError, reasonOf } from '../errors.ts';
import { isDiskFull } from './disk/disk-full.ts';
import { removeUnfinished, replaceFile, rewriteFile } from './durable-file.ts';
import { isOfRoot, MOST_LINKS, openTrustedFolder } from './private-folder.ts';

/** Largest file that owners edit by hand. */
const MOST_BYTES = 1024 ** 2;

/**
 * Changes a text file that its owner edits by hand, too: whole or not at all, with its mode and
 * owner as they are. A link in its place is followed if it is root's and leads through what is
 * root's alone; anything else in its place is refused.
 * @param edit gets the text as latin1, so that no byte of it is lost; empty if there is no file
 * @throws DepotError unavailable, no_space
 */
export async function editOwnerFile(path: string, edit: (text: string) => string): Promise<void> {
  const file = await findFile(path);
  await removeUnfinished(file);
  const text = await textOf(file);
  const next = edit(text ?? '');
  if (next === text) return;
  const bytes = Buffer.from(next, 'latin1');
  const written = text === undefined ? replaceFile(file, bytes, 0o644) : rewriteFile(file, bytes);
  await written.catch((error: unknown) => {
    const code = isDiskFull(error) ? 'no_space' : 'unavailable';
    throw new DepotError(code, `cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  });
}

/** The text of a small file, byte for byte as latin1. */
export async function readSmallFile(path: string, mostBytes: number): Promise<string | undefined> {
  return (await readSmallBytes(path, mostBytes))?.toString('latin1');
}

/**
 * What stands there may be somebody else's: a fifo is not waited for (open(2), O_NONBLOCK), and of
 * a large file nothing is read.
 * @returns undefined for what is no file, is larger, or cannot be read
 */
export async function readSmallBytes(
  path: string,
  mostBytes: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const entry = await file.stat();
    return entry.isFile() && entry.size <= mostBytes ? await file.readFile() : undefined;
  } catch {
    return undefined;
  }
}

/** What stands there may be somebody else's: no link is followed, and no fifo is waited for. */
export const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Nothing is opened before the first piece is asked for. */
export async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, READ);
  yield* file.createReadStream() as AsyncIterable<Buffer>;
}

/** At most so many bytes of a file, from its head if no other offset is given. */
export async function readPart(path: string, mostBytes: number, from = 0): Promise<Buffer> {
  await using file = await open(path);
  const space = Buffer.allocUnsafe(mostBytes);
  const { buffer, bytesRead } = await file.read(space, 0, mostBytes, from);
  return buffer.subarray(0, bytesRead);
}

/** The file itself: in a folder of root's, behind links of root's. */
async function findFile(path: string): Promise<string> {
  let at = path;
  for (let links = 0; links <= MOST_LINKS; links += 1) {
    const file = join(await openTrustedFolder(dirname(at), 0o755), basename(at));
    const entry = await lstat(file).catch(() => undefined);
    if (entry === undefined || entry.isFile()) return file;
    if (!entry.isSymbolicLink()) throw unusable(path, 'it is no file');
    if (!isOfRoot(entry)) {
      throw unusable(path, `it is a link of the user ${entry.uid}`);
    }
    at = resolve(dirname(file), await readlink(file));
  }
  throw unusable(path, 'too many links lead there');
}

async function textOf(file: string): Promise<string | undefined> {
  const entry = await stat(file).catch(() => undefined);
  if (entry === undefined) return undefined;
  if (entry.size > MOST_BYTES) throw unusable(file, `it is larger than ${MOST_BYTES} bytes`);
  return readFile(file, 'latin1');
}

function unusable(path: string, why: string): DepotError {
  return new DepotError('unavailable', `cannot change ${path}: ${why}`);
}
