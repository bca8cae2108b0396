import type { Readable } from 'node:stream';
import { parseJson } from '../../device/durable-file.ts';
import type { Call, ResponseSink } from './upstream/call.ts';
import type { Pool } from './upstream/pool.ts';

/**
 * Longer bodies are not looked into: they pass as a stream, and the change of a target branch in
 * them goes unnoticed. Bytes.
 */
const MAX_READ_AHEAD_BYTES = 1_048_576;

/** What was read of a request's body, and whether that is all of it. */
export interface ReadAhead {
  bytes: Buffer;
  isWhole: boolean;
}

/**
 * Reads a body up to the limit, or to its end. The request is left paused. It ends early, not
 * whole, if the caller goes away.
 */
export function readAhead(request: Readable): Promise<ReadAhead> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const finish = (isWhole: boolean): void => {
      request.off('data', collect).off('end', whole).off('close', partial);
      if (!isWhole) request.pause();
      resolve({ bytes: Buffer.concat(pieces), isWhole });
    };
    const collect = (piece: Buffer): void => {
      pieces.push(piece);
      length += piece.length;
      if (length > MAX_READ_AHEAD_BYTES) finish(false);
    };
    const whole = (): void => finish(true);
    const partial = (): void => finish(false);
    if (request.destroyed || request.readableEnded) finish(request.readableEnded);
    else request.on('data', collect).on('end', whole).on('close', partial);
  });
}

/**
 * The target branch that the body of a pull request's edit asks for. The forge matches names
 * without regard to case and accepts forms too (docs/reference/forge.md).
 */
export function requestedBase(body: Buffer, contentType: string | undefined): string | undefined {
  const text = body.toString('utf8');
  const entries =
    contentType?.startsWith('application/x-www-form-urlencoded') === true
      ? [...new URLSearchParams(text)]
      : entriesOf(text);
  const base = entries.findLast(([name]) => name.toLowerCase() === 'base')?.[1];
  return typeof base === 'string' && base !== '' ? base : undefined;
}

function entriesOf(text: string): [string, unknown][] {
  const value = parseJson(text);
  // The forge will say what it thinks of another body.
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** An answer to a question of our own is read up to this many bytes. */
const MAX_ANSWER_BYTES = 4_194_304;

/**
 * The target branch that a pull request has now; undefined if the forge does not say so.
 * @param call GET of the pull request
 */
export function currentBase(pool: Pool, call: Call): Promise<string | undefined> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let length = 0;
    let isFound = false;
    const sink: ResponseSink = {
      head: ({ status }) => {
        isFound = status === 200;
      },
      body: (piece) => {
        length += piece.length;
        if (length <= MAX_ANSWER_BYTES) pieces.push(Buffer.from(piece));
        return true;
      },
      end: () =>
        resolve(
          isFound && length <= MAX_ANSWER_BYTES
            ? baseIn(Buffer.concat(pieces).toString('utf8'))
            : undefined,
        ),
      fail: () => resolve(undefined),
    };
    pool.send(call, sink);
  });
}

function baseIn(text: string): string | undefined {
  const base = entriesOf(text).find(([name]) => name === 'base')?.[1];
  if (typeof base !== 'object' || base === null || !('ref' in base)) return undefined;
  return typeof base.ref === 'string' ? base.ref : undefined;
}
