import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { isShortage } from '../../../device/shortage.ts';
import { LISTING_LIMITS } from '../../listing.ts';

/** Paragraphs of a package list whose `Package` the caller wants. */
export async function* readParagraphs(
  pieces: AsyncIterable<Buffer>,
  isWanted: (name: string) => boolean,
): AsyncGenerator<string> {
  for await (const piece of pieces) yield* paragraphsIn(piece, isWanted);
}

/** Not async: readers of a list have thousands. */
function* paragraphsIn(piece: Buffer, isWanted: (name: string) => boolean): Generator<string> {
  for (let from = 0; from < piece.length;) {
    const end = endOfParagraph(piece, from);
    // Paragraphs are decoded one by one: a part of a larger text would keep the whole in memory.
    if (isWanted(nameIn(piece, from, end))) yield piece.toString('utf8', from, end);
    from = afterEmptyLines(piece, end);
  }
}

/**
 * Of a list that is damaged, or not there, what stands before the fault: opkg goes on so, too. For
 * lack of descriptors or memory it must not pass for an empty one.
 */
export async function* readUpToFault(file: string): AsyncGenerator<Buffer> {
  try {
    yield* readPieces(file);
  } catch (error) {
    // What could be read was given.
    if (isShortage(error)) throw error;
  }
}

/**
 * A package list, gzip or plain, in pieces of whole paragraphs. It is read as a stream: unpacked it
 * can be larger than the daemon.
 * @throws an Error if the file cannot be read or unpacked, or is longer than a list can be
 */
export async function* readPieces(file: string): AsyncGenerator<Buffer> {
  let left: Buffer = Buffer.alloc(0);
  let bytes = 0;
  for await (const piece of await openList(file)) {
    const chunk = left.length === 0 ? piece : Buffer.concat([left, piece]);
    bytes += piece.length;
    const end = endOfParagraphs(chunk);
    if (end > 0) yield chunk.subarray(0, end);
    left = chunk.subarray(afterEmptyLines(chunk, end));
    if (left.length > LISTING_LIMITS.paragraphBytes || bytes > LISTING_LIMITS.listBytes) {
      throw new Error(`cannot read ${file}: it is too long for a package list`);
    }
  }
  if (left.length > 0) yield left;
}

/**
 * Larger than zlib's own: a paragraph seldom lies in two pieces. Well above malloc's bound of 128
 * KiB (mallopt(3), M_MMAP_THRESHOLD), so that each piece goes back to the system.
 */
const CHUNK_BYTES = 192 * 1024;

/** Another user may have put a fifo in its place: that is not waited for (open(2), O_NONBLOCK). */
async function openList(path: string): Promise<AsyncIterable<Buffer>> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error(`cannot read ${path}: it is no file`);
    const isPacked = await isGzip(file);
    // Made no sooner: an error that comes before somebody listens would end the daemon.
    const source = file.createReadStream({ highWaterMark: CHUNK_BYTES, start: 0 });
    return isPacked
      ? pipeline(source, createGunzip({ chunkSize: CHUNK_BYTES }), () => undefined)
      : source;
  } catch (error) {
    await file.close();
    throw error;
  }
}

export const NEWLINE = 0x0a;

/** Between the words of a line, or at its end: what opkg takes for such (isspace(3)). */
export function isBlank(byte = 0): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d && byte !== NEWLINE);
}

export function afterBlanks(piece: Buffer, from: number, end = piece.length): number {
  let next = from;
  while (next < end && isBlank(piece[next])) next += 1;
  return next;
}

/** By a loop: `indexOf` takes as long to be called as a line has bytes. */
export function endOfLine(piece: Buffer, from: number): number {
  let end = from;
  while (end < piece.length && piece[end] !== NEWLINE) end += 1;
  return end;
}

/** Whether the bytes stand there. Not by `compare`, which takes five times as long for so few. */
export function hasAt(piece: Buffer, at: number, bytes: Buffer): boolean {
  let same = 0;
  while (same < bytes.length && piece[at + same] === bytes[same]) same += 1;
  return same === bytes.length;
}

/** The line break before the next empty line, or one of blanks; the end if there is none. */
function endOfParagraph(piece: Buffer, from: number): number {
  for (let end = endOfLine(piece, from); end < piece.length;) {
    const next = afterBlanks(piece, end + 1);
    if (piece[next] === NEWLINE) return end;
    end = endOfLine(piece, next);
  }
  return piece.length;
}

/** The line break before the last empty line, or one of blanks; 0 if there is none. */
function endOfParagraphs(chunk: Buffer): number {
  let end = chunk.lastIndexOf(NEWLINE);
  while (end > 0) {
    let before = end - 1;
    while (isBlank(chunk[before])) before -= 1;
    if (chunk[before] === NEWLINE) return before;
    end = before < 0 ? -1 : chunk.lastIndexOf(NEWLINE, before);
  }
  return 0;
}

/** A list of nothing but empty lines has no paragraphs, and not millions of them. */
function afterEmptyLines(chunk: Buffer, from: number): number {
  let next = from;
  while (chunk[next] === NEWLINE || isBlank(chunk[next])) next += 1;
  return next;
}

const NAME_FIELD = Buffer.from('Package:');

/** Read from the bytes: of most paragraphs of a list nothing else is wanted. */
function nameIn(piece: Buffer, from: number, end: number): string {
  for (let at = from; at < end; at = endOfLine(piece, at) + 1) {
    if (!hasAt(piece, at, NAME_FIELD)) continue;
    const lineEnd = endOfLine(piece, at);
    const name = piece.toString('utf8', at + NAME_FIELD.length, lineEnd).trim();
    if (name !== '') return name;
  }
  return '';
}

/** RFC 1952: a gzip member starts with 1f 8b. */
async function isGzip(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer.readUInt16BE() === 0x1f8b;
}
