import type { IncomingMessage } from 'node:http';
import { DepotError } from '../errors.ts';

/** Largest form of parameters, in bytes; uploads do not come this way. */
const MOST_FORM_BYTES = 64 * 1024;
/** From when a form is read. A small one comes at once, or only to hold the connection. */
const FORM_TIMEOUT_MS = 10_000;

/**
 * From Node's own request: the Fetch class would load Node's HTTP client. What is left of the body
 * stays unread. @throws DepotError too_large, too_slow, bad_request if the client went away
 */
export function readForm(incoming: IncomingMessage): Promise<string> {
  if (Number(incoming.headers['content-length'] ?? 0) > MOST_FORM_BYTES) {
    return Promise.reject(tooLarge());
  }
  return new Promise((resolve, reject) => {
    const form = gatherPieces();
    const finish = (conclude: () => void): void => {
      clearTimeout(timer);
      incoming
        .off('data', collect)
        .off('end', done)
        .off('close', broken)
        .off('error', broken)
        .pause();
      conclude();
    };
    const refuse = (error: DepotError): void => finish(() => reject(error));
    const collect = (piece: Buffer): void => {
      if (form.length() + piece.length > MOST_FORM_BYTES) refuse(tooLarge());
      else form.add(piece);
    };
    const done = (): void => finish(() => resolve(form.bytes().toString('utf8')));
    const broken = (): void =>
      refuse(new DepotError('bad_request', 'cannot read the form: the client went away'));
    const message = `cannot read a form that takes more than ${FORM_TIMEOUT_MS / 1000} s`;
    const timer = setTimeout(() => refuse(new DepotError('too_slow', message)), FORM_TIMEOUT_MS);
    incoming.on('data', collect).on('end', done).on('close', broken).on('error', broken);
  });
}

function tooLarge(): DepotError {
  return new DepotError('too_large', `cannot read a form of more than ${MOST_FORM_BYTES} bytes`);
}

/** The bytes of a body that comes in pieces. */
export type Gathered = ReturnType<typeof gatherPieces>;

/**
 * Keeps the first piece, and copies the further ones behind it into one buffer, which doubles: a
 * piece of one byte is an object of some 400, and whoever sends 64 KiB so would hold 25 MB.
 */
export function gatherPieces() {
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;
  return {
    add: (piece: Buffer): void => {
      const needed = length + piece.length;
      if (length === 0) {
        buffer = piece;
        length = needed;
        return;
      }
      if (needed > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * buffer.length));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      length += piece.copy(buffer, length);
    },
    /** How many they are so far. */
    length: (): number => length,
    bytes: (): Buffer => buffer.subarray(0, length),
  };
}
