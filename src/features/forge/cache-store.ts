import { randomBytes } from 'node:crypto';
import {
  open,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
  readFile,
  type FileHandle,
} from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { isPrivateFolder, openPrivateFolder } from '../../device/private-folder.ts';
import { DepotError, systemCode } from '../../errors.ts';
import { createAnswerWriter, FOOTER_BYTES, type AnswerWriter } from './answer-writer.ts';
import type { HeaderLines } from './header-lines.ts';

/**
 * Answers on disk, bounded in bytes; the one used longest ago goes first. One file an answer: a
 * line of JSON, the body, and the body's length. Invariants:
 * - a file under its final name is whole: it is written under another name and renamed;
 * - a file that does not end with the length of its body, as after a loss of power, is not used,
 *   and removed;
 * - the sum of all files stays at or below `maxBytes`, but for those being written, of which each
 *   is at most a quarter of it.
 */
export interface CacheStore {
  /** The key of this folder, for names that tell nothing to who sees them. */
  secret(): Promise<Buffer>;
  find(name: string): Promise<StoredAnswer | undefined>;
  forget(name: string): Promise<void>;
  /** Begins a new answer; undefined if it would be too large. */
  write(name: string, about: AnswerHead): AnswerWriter;
}

const ANSWER_HEAD = v.object({
  status: v.number(),
  reason: v.string(),
  headers: v.array(v.string()),
  varied: v.array(v.string()),
  storedAt: v.number(),
});

export interface AnswerHead {
  status: number;
  reason: string;
  headers: HeaderLines;
  /** The request's headers that the answer was chosen by, with their values. */
  varied: HeaderLines;
  /** Unix seconds. */
  storedAt: number;
}

/** An open file: `close` it, or read it to its end. */
export interface StoredAnswer extends AnswerHead {
  body: () => AsyncIterable<Buffer>;
  close: () => Promise<void>;
}

/** How long an answer waits for the disk, in milliseconds, before its copy is given up. */
const DISK_TIMEOUT_MS = 10_000;
/** Longest first line, in bytes: the headers of an answer are at most 64 KiB. */
const MAX_HEAD_BYTES = 131_072;

export function createCacheStore({
  folder,
  maxBytes,
}: {
  folder: string;
  maxBytes: number;
}): CacheStore {
  let opened: Promise<Folder> | undefined;
  /** Those that are not in the cache yet. */
  const copies = new Set<Copy>();
  // A failure is not remembered: the folder's disk may come later.
  const ready = (): Promise<Folder> =>
    (opened ??= openFolder(folder, maxBytes).catch((error: unknown) => {
      opened = undefined;
      throw error;
    }));
  return {
    secret: async () => (await ready()).secret,
    find: async (name) => findAnswer(await ready(), name),
    forget: async (name) => {
      for (const copy of copies) if (copy.name === name) copy.isForgotten = true;
      const { path, sizes } = await ready();
      if (sizes.delete(name)) await rm(join(path, name), { force: true });
    },
    write: (name, about) => {
      const part = join(folder, `${name}.${randomBytes(6).toString('hex')}.part`);
      const copy: Copy = { part, name, bytes: 0, isForgotten: false };
      copies.add(copy);
      const storeAs = async (bytes: number): Promise<void> =>
        storeInOrder(await ready(), Object.assign(copy, { bytes }));
      return createAnswerWriter({
        partFile: part,
        about,
        mostBytes: maxBytes / 4,
        timeoutMs: DISK_TIMEOUT_MS,
        onWhole: storeAs,
        onEnd: () => copies.delete(copy),
      });
    },
  };
}

/** An answer on its way to the disk. */
interface Copy {
  part: string;
  name: string;
  bytes: number;
  /** Whether the forge took it back meanwhile. */
  isForgotten: boolean;
}

interface Folder {
  path: string;
  secret: Buffer;
  maxBytes: number;
  /** Bytes by name, the one used longest ago first. */
  sizes: Map<string, number>;
  /** Settles when the newest answer has its place. */
  lastStored: Promise<void>;
}

const NAME = /^[0-9a-f]{64}$/;

async function openFolder(path: string, maxBytes: number): Promise<Folder> {
  await (await openPrivateFolder(path)).close();
  await checkMode(path);
  const files: { name: string; bytes: number; usedAt: number }[] = [];
  for (const name of await readdir(path)) {
    const about = await stat(join(path, name));
    if (NAME.test(name)) files.push({ name, bytes: about.size, usedAt: about.mtimeMs });
    else if (name.endsWith('.part')) await rm(join(path, name), { force: true });
  }
  files.sort((one, other) => one.usedAt - other.usedAt);
  const sizes = new Map(files.map(({ name, bytes }) => [name, bytes]));
  const folder: Folder = {
    path,
    secret: await readSecret(join(path, 'key')),
    maxBytes,
    sizes,
    lastStored: Promise.resolve(),
  };
  await evict(folder, 0);
  return folder;
}

/** Others may have put answers into a folder that is open to them. */
async function checkMode(path: string): Promise<void> {
  if (await isPrivateFolder(path)) return;
  throw new DepotError(
    'unavailable',
    `cannot keep answers in ${path}: it is not a folder of the daemon alone`,
  );
}

async function readSecret(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    const secret = randomBytes(32);
    await writeFile(path, secret, { mode: 0o600 });
    return secret;
  }
}

async function findAnswer(
  { path, sizes }: Folder,
  name: string,
): Promise<StoredAnswer | undefined> {
  const bytes = sizes.get(name);
  if (bytes === undefined) return undefined;
  // It is the one used last from now on. It stays in the list while it is read: others look for it
  // meanwhile, take it back or replace it.
  sizes.delete(name);
  sizes.set(name, bytes);
  let file: FileHandle | undefined;
  try {
    file = await open(join(path, name), 'r');
    return await readAnswer(file, bytes);
  } catch {
    await file?.close();
    if (sizes.get(name) !== bytes) return undefined;
    // Gone or spoilt: as if it had never been stored.
    sizes.delete(name);
    await rm(join(path, name), { force: true });
    return undefined;
  }
}

async function readAnswer(file: FileHandle, bytes: number): Promise<StoredAnswer> {
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(Math.min(bytes, MAX_HEAD_BYTES)),
    0,
    null,
    0,
  );
  const footer = await file.read(Buffer.alloc(FOOTER_BYTES), 0, FOOTER_BYTES, bytes - FOOTER_BYTES);
  const start = buffer.subarray(0, bytesRead).indexOf(0x0a) + 1;
  const head = v.parse(ANSWER_HEAD, JSON.parse(buffer.toString('utf8', 0, start)));
  const length = Number.parseInt(footer.buffer.toString('latin1'), 16);
  if (start + length + FOOTER_BYTES !== bytes) throw new Error('the file is not whole');
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await file.close();
  };
  return {
    ...head,
    body: () => piecesOf(file, { start, length, close }),
    close,
  };
}

async function* piecesOf(
  file: FileHandle,
  { start, length, close }: { start: number; length: number; close: () => Promise<void> },
): AsyncGenerator<Buffer> {
  try {
    for (let position = start; position < start + length;) {
      const { buffer, bytesRead } = await file.read(
        Buffer.allocUnsafe(65_536),
        0,
        Math.min(65_536, start + length - position),
        position,
      );
      if (bytesRead === 0) throw new Error('cannot read a kept answer: its file became shorter');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await close();
  }
}

/** One after the other: each makes room only for itself. */
function storeInOrder(folder: Folder, copy: Copy): Promise<void> {
  const kept = folder.lastStored.then(() => storeAnswer(folder, copy));
  folder.lastStored = kept.catch(() => undefined);
  return kept;
}

async function storeAnswer(folder: Folder, copy: Copy): Promise<void> {
  const { part, name, bytes } = copy;
  const file = join(folder.path, name);
  const isForgotten = (): boolean => copy.isForgotten;
  folder.sizes.delete(name);
  await evict(folder, bytes);
  if (isForgotten()) {
    // The one before it, too: it was in no list any more when the forge took it back.
    for (const path of [part, file]) await rm(path, { force: true });
    return;
  }
  await rename(part, file);
  if (isForgotten()) await rm(file, { force: true });
  else folder.sizes.set(name, bytes);
}

/** Makes room for so many bytes. */
async function evict({ path, sizes, maxBytes }: Folder, room: number): Promise<void> {
  let total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, room);
  for (const [name, bytes] of sizes) {
    if (total <= maxBytes) return;
    sizes.delete(name);
    total -= bytes;
    await rm(join(path, name), { force: true });
  }
}
