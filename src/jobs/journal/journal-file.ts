import * as fs from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { syncPath } from '../../device/durable-file.ts';

export type JournalFile = Awaited<ReturnType<typeof openJournalFile>>;

/** Room beside the reserve: a removal, which frees a full disk, writes some ten lines. */
const SPARE_BYTES = 32 * 1024;
/** The reserve grows by at least so much, since each growth costs a write more. */
const GROWTH_BYTES = SPARE_BYTES + 16 * 1024;
/** Largest reserve: what seems more is what a power cut left, or damage. */
const MOST_RESERVE_BYTES = 64 * 1024 ** 2;
const FILLER = '\n';

// By descriptors: file handles are of `fs/promises`, which a start does without.
const [open, close, stat] = [promisify(fs.open), promisify(fs.close), promisify(fs.fstat)];
const [read, write, truncate] = [promisify(fs.read), promisify(fs.write), promisify(fs.ftruncate)];
const [sync, syncData] = [promisify(fs.fsync), promisify(fs.fdatasync)];

/**
 * A file of lines with room behind the last one, which is filled with line ends: a reader takes
 * them for empty lines. Invariants:
 *  - what was written is on the medium (fdatasync(2)) when `append` resolves;
 *  - a write that fails, or whose company does, is undone, so that no line stands behind half of
 *    another, and none of what was refused comes to be after all;
 *  - what is written goes to the file that has the name, also if the folder could not be synced
 *    when it got it; that is done again before the next line counts as written;
 *  - the reserve is written beforehand, so that lines which may use it need no room on the disk;
 *    other lines leave it as it is.
 * @param linesEnd where the last line ends; what a power cut left behind it goes
 */
export async function openJournalFile(file: string, linesEnd: number) {
  let descriptor = await open(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
  let position = linesEnd;
  let size = (await stat(descriptor)).size;
  let isRenameSynced = true;

  const syncRename = async (): Promise<void> => {
    await syncPath(dirname(file));
    isRenameSynced = true;
  };
  const fill = async (from: number, to: number): Promise<void> => {
    await writeAt(descriptor, Buffer.alloc(to - from, FILLER), from);
    size = Math.max(size, to);
  };
  /** Makes the file long enough; what a full disk let it grow by stays, as reserve. */
  const grow = async (wanted: number): Promise<void> => {
    if (wanted + SPARE_BYTES <= size) return;
    try {
      await fill(size, wanted + GROWTH_BYTES);
    } catch (error) {
      size = (await stat(descriptor)).size;
      if (wanted > size) throw error;
    }
  };

  const isLong = size - position > MOST_RESERVE_BYTES;
  if (isLong || !(await isFiller(descriptor, position, size))) {
    const mended = isLong ? truncate(descriptor, position) : fill(position, size);
    await mended.catch(() => truncate(descriptor, position));
    size = (await stat(descriptor)).size;
  }
  return {
    /**
     * @param reserve bytes that must be left behind the text when it is written
     * @param syncMore syncs what the text relies on, at the same time: a file system has one commit
     *   for both
     */
    append: async (text: string, reserve: number, syncMore?: () => Promise<void>) => {
      const bytes = Buffer.from(text);
      const end = position + bytes.length;
      await grow(end + reserve);
      try {
        await writeAt(descriptor, bytes, position);
        await bothDone(syncData(descriptor), syncMore?.());
        if (!isRenameSynced) await syncRename();
        position = end;
        size = Math.max(size, end);
      } catch (error) {
        await fill(position, Math.min(end, size)).catch(() => truncate(descriptor, position));
        size = (await stat(descriptor)).size;
        throw error;
      }
    },
    /** Replaces all lines at once: a crash leaves either the old ones or the new ones. */
    replace: async (text: string, reserve: number) => {
      const bytes = Buffer.from(text);
      const filler = Buffer.alloc(reserve + GROWTH_BYTES, FILLER);
      const next = await writeNew(`${file}.new`, [bytes, filler]);
      await rename(`${file}.new`, file).catch(async (error: unknown) => {
        await close(next);
        throw error;
      });
      // From here on the old one has no name any more: what is written to it would be lost.
      const before = descriptor;
      descriptor = next;
      position = bytes.length;
      size = bytes.length + filler.length;
      isRenameSynced = false;
      await close(before);
      await syncRename();
    },
    close: (): Promise<void> => {
      const closed = descriptor;
      // The descriptor's number may be another file's next.
      descriptor = -1;
      return close(closed);
    },
  };
}

/** Waits for both, also if one fails: the caller must undo nothing while a sync still runs. */
async function bothDone(one: Promise<void>, other: Promise<void> | undefined): Promise<void> {
  await Promise.allSettled([one, other]);
  await Promise.all([one, other]);
}

const PIECE_BYTES = 64 * 1024;

/**
 * Whether there is nothing but reserve from here on, so that a start writes nothing: full file
 * systems that write elsewhere what is written over can neither fill nor truncate.
 */
async function isFiller(descriptor: number, from: number, to: number): Promise<boolean> {
  for (let position = from; position < to;) {
    const length = Math.min(PIECE_BYTES, to - position);
    const { buffer, bytesRead } = await read(descriptor, Buffer.alloc(length), 0, length, position);
    if (bytesRead === 0) return false;
    // At once: V8 would optimise a loop over so many bytes, and keep the 3 MB that this takes.
    if (!buffer.subarray(0, bytesRead).equals(Buffer.alloc(bytesRead, FILLER))) return false;
    position += bytesRead;
  }
  return true;
}

async function writeNew(file: string, content: readonly Buffer[]): Promise<number> {
  await rm(file, { force: true });
  const descriptor = await open(file, 'wx+', 0o600);
  try {
    let position = 0;
    for (const bytes of content) {
      await writeAt(descriptor, bytes, position);
      position += bytes.length;
    }
    await sync(descriptor);
    return descriptor;
  } catch (error) {
    await close(descriptor);
    await rm(file, { force: true });
    throw error;
  }
}

/** write(2) may write less than asked for, on a full disk say; the next one says why. */
async function writeAt(descriptor: number, bytes: Buffer, from: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const rest = bytes.length - done;
    done += (await write(descriptor, bytes, done, rest, from + done)).bytesWritten;
  }
}
