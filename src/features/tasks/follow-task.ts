import type { TaskLogs } from '../../jobs/task-logs.ts';
import { PING_MS, type StreamEvent } from '../../http/event-stream.ts';

interface FollowOptions {
  logs: TaskLogs;
  id: string;
  /** Byte offset in the log to begin at. */
  from: number;
  statusOf: () => Promise<object>;
  hasEnded: () => boolean;
  signal: AbortSignal;
}

/** The id of the last event ends so: who comes back with it has all there is. */
export const END_MARK = '.end';

const PIECE_BYTES = 64 * 1024;

/**
 * `status` when it changes, `log` with text whose id is the byte offset behind it, `end` with the
 * last status. Text is cut between characters: who comes back with an id misses none and sees none
 * twice. `undefined` stands for a sign of life.
 */
export async function* followTask(
  options: FollowOptions,
): AsyncGenerator<StreamEvent | undefined, void> {
  const { logs, id, from, statusOf, hasEnded, signal } = options;
  let offset = from;
  let lastStatus = '';
  let saidAt = performance.now();
  while (!signal.aborted) {
    // In this order: a task that has ended writes nothing more, so what is read after that is all.
    const isOver = hasEnded();
    const status = await statusOf();
    if (!isOver && JSON.stringify(status) !== lastStatus) {
      lastStatus = JSON.stringify(status);
      yield { event: 'status', data: status };
      saidAt = performance.now();
    }
    const piece = await readCharacters(logs, { id, offset, isOver });
    if (piece.bytes > 0) {
      offset += piece.bytes;
      yield { event: 'log', id: String(offset), data: piece.text };
      saidAt = performance.now();
    } else if (isOver) {
      yield { event: 'end', id: `${offset}${END_MARK}`, data: status };
      return;
    } else {
      // A timer may come a moment early, and a wake may have nothing to say.
      const timeoutMs = saidAt + PING_MS - performance.now();
      if (timeoutMs > 0) {
        await logs.waitForMore(id, { offset: piece.waitFrom, timeoutMs, signal });
        continue;
      }
      yield undefined;
      saidAt = performance.now();
    }
  }
}

interface Piece {
  text: string;
  bytes: number;
  /** Growth beyond this is worth another look: behind a character that is not whole yet. */
  waitFrom: number;
}

async function readCharacters(
  logs: TaskLogs,
  { id, offset, isOver }: { id: string; offset: number; isOver: boolean },
): Promise<Piece> {
  const size = (await logs.size(id)) ?? 0;
  if (size <= offset) return { text: '', bytes: 0, waitFrom: offset };
  const buffer = await logs.read(id, offset, PIECE_BYTES);
  const isLast = isOver && offset + buffer.length >= size;
  const bytes = isLast ? buffer.length : wholeCharacters(buffer);
  return { text: buffer.toString('utf8', 0, bytes), bytes, waitFrom: offset + buffer.length };
}

/** Bytes before a UTF-8 character (RFC 3629) that begins at the end and is not whole. */
function wholeCharacters(buffer: Buffer): number {
  for (let back = 1; back <= Math.min(3, buffer.length); back += 1) {
    const byte = buffer[buffer.length - back] ?? 0;
    if (byte < 0x80) return buffer.length;
    if (byte >= 0xc0) return lengthOf(byte) > back ? buffer.length - back : buffer.length;
  }
  return buffer.length;
}

function lengthOf(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}
