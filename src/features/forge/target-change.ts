import type { Readable } from 'node:stream';
import { parseJson } from '../../device/durable-file.ts';
import { gatherPieces, type Gathered } from '../../http/form.ts';
import type { CallerResponse } from './caller.ts';
import type { Call, ResponseSink } from './upstream/call.ts';
import type { Pool } from './upstream/pool.ts';

/** Longer bodies pass as a stream, and the change of a target branch in them goes unnoticed. */
const MAX_READ_AHEAD_BYTES = 1_048_576;
/**
 * Anybody may send an edit, and not end it. So each has this much for itself, whoever needs more
 * shares the rest with all others, and a body that does not come passes as a stream, too. Bytes.
 */
const OWN_BYTES = 65_536;
const SHARED_BYTES = 4_194_304;
const READ_AHEAD_MS = 10_000;

export type BodyReader = ReturnType<typeof createBodyReader>;

export function createBodyReader() {
  const held = new Set<Gathered>();
  const isFull = (): boolean =>
    [...held].reduce((sum, body) => sum + body.length(), 0) > SHARED_BYTES;
  /**
   * Up to the limit, or to its end. The request is left paused. It ends early, not whole, if the
   * caller goes away. What was read counts until the answer is over.
   */
  return (
    request: Readable,
    response: Pick<CallerResponse, 'once'>,
  ): Promise<{ bytes: Buffer; isWhole: boolean }> => {
    // Of a caller who has gone nobody says any more that the answer is over.
    if (request.destroyed) {
      return Promise.resolve({ bytes: Buffer.alloc(0), isWhole: request.readableEnded });
    }
    const body = gatherPieces();
    held.add(body);
    response.once('close', () => held.delete(body));
    return new Promise((resolve) => {
      const finish = (isWhole: boolean): void => {
        clearTimeout(timer);
        request.off('data', collect).off('end', whole).off('close', partial);
        if (!isWhole) request.pause();
        resolve({ bytes: body.bytes(), isWhole });
      };
      const collect = (piece: Buffer): void => {
        body.add(piece);
        const length = body.length();
        if (length > MAX_READ_AHEAD_BYTES || (length > OWN_BYTES && isFull())) finish(false);
      };
      const whole = (): void => finish(true);
      const partial = (): void => finish(false);
      const timer = setTimeout(partial, READ_AHEAD_MS);
      if (request.readableEnded) finish(true);
      else request.on('data', collect).on('end', whole).on('close', partial);
    });
  };
}

/** The forge matches names without regard to case and accepts forms (docs/reference/forge.md). */
export function requestedBase(body: Buffer, contentType: string | undefined): string | undefined {
  const text = body.toString('utf8');
  const isForm = contentType?.startsWith('application/x-www-form-urlencoded') === true;
  const base = baseOf(isForm ? new URLSearchParams(text) : fieldsOf(text));
  return typeof base === 'string' && base !== '' ? base : undefined;
}

/** The last `base` counts. The fields come one by one: a million of them make no list. */
function baseOf(fields: Iterable<[string, unknown]>): unknown {
  let base: unknown;
  for (const [name, value] of fields) if (name.toLowerCase() === 'base') base = value;
  return base;
}

function* fieldsOf(text: string): Generator<[string, unknown]> {
  const value = parseJson(text);
  // The forge will say what it thinks of another body.
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const name of Object.keys(value)) yield [name, (value as Record<string, unknown>)[name]];
}

/** An answer to a question of our own is read up to this many bytes. */
const MAX_ANSWER_BYTES = 1_048_576;

/** undefined if the forge does not say so. @param call GET of the pull request */
export function currentBase(pool: Pool, call: Call): Promise<string | undefined> {
  return new Promise((resolve) => {
    const answer = gatherPieces();
    let isFound = false;
    const sink: ResponseSink = {
      head: ({ status }) => {
        isFound = status === 200;
      },
      body: (piece) => {
        if (answer.length() <= MAX_ANSWER_BYTES) answer.add(Buffer.from(piece));
        return true;
      },
      end: () =>
        resolve(
          isFound && answer.length() <= MAX_ANSWER_BYTES
            ? baseIn(answer.bytes().toString('utf8'))
            : undefined,
        ),
      fail: () => resolve(undefined),
    };
    pool.send(call, sink);
  });
}

function baseIn(text: string): string | undefined {
  const base = baseOf(fieldsOf(text));
  if (typeof base !== 'object' || base === null || !('ref' in base)) return undefined;
  return typeof base.ref === 'string' ? base.ref : undefined;
}
