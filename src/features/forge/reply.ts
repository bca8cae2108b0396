import type { CallerResponse } from './caller.ts';
import { responseHeaders, type CallerView } from './headers.ts';
import type { ResponseSink } from './upstream/call.ts';

/** Pieces up to this length are copied, which is cheaper than waiting until they are written. */
const COPY_BYTES = 16_384;

export interface Reply extends ResponseSink {
  /** Bytes of the body handed over so far. */
  sentBytes(): number;
}

/** Hands the answer on no faster than the caller takes it. @param view computed if needed */
export function createReply(
  response: CallerResponse,
  { view, fail }: { view: () => CallerView; fail: Reply['fail'] },
): Reply {
  let sentBytes = 0;
  /** The body's end, to leave with the head in one write; latin1 gives back every byte. */
  let last = '';
  return {
    sentBytes: () => sentBytes,
    head: ({ status, reason, headers }, hasMore) => {
      response.writeHead(status, reason, responseHeaders(headers, { status, view }));
      if (!hasMore) response.flushHeaders();
    },
    body: (piece, isLast, resume) => {
      sentBytes += piece.length;
      if (piece.length > COPY_BYTES) {
        response.write(piece, resume);
        return false;
      }
      if (isLast) {
        last = piece.toString('latin1');
        return true;
      }
      const copy = Buffer.from(piece);
      let isFull = false;
      isFull = !response.write(copy, () => {
        if (isFull) resume();
      });
      return !isFull;
    },
    end: () => void response.end(last, 'latin1'),
    fail,
  };
}
