import type { Readable } from 'node:stream';
import type { Failure } from '../failure.ts';
import type { ResponseHead } from './response-head.ts';

/** One request to the forge, ready to be written. */
export interface Call {
  method: string;
  /** Request line and headers with the empty line at their end, latin1. */
  head: string;
  body: RequestBody | undefined;
}

export interface RequestBody {
  /** What was read ahead of the source; written first. */
  prefix: Buffer | undefined;
  source: Readable;
  /** Whether each piece is framed as a chunk; else the head announced the length. */
  isChunked: boolean;
  /** How much of it went on so far, for the metrics. */
  sentBytes: number;
}

/** First `head`, then `body` any number of times, then `end`; `fail` ends it at any point. */
export interface ResponseSink {
  /** @param hasMore whether the body, or its end, follows at once; else the head goes out now */
  head: (head: ResponseHead, hasMore: boolean) => void;
  /**
   * @param piece lies in the connection's read buffer. Whoever keeps it must copy it, or return
   *   false and call `resume` when done with it: until as many `resume` as false were seen, nothing
   *   more is read and the connection serves nobody else
   * @param isLast whether the announced length is reached
   */
  body: (piece: Buffer, isLast: boolean, resume: () => void) => boolean;
  end: () => void;
  fail: (failure: CallFailure) => void;
}

export interface CallFailure extends Failure {
  /** The connection had served, and was closed without a byte: the request may be unread. */
  isStale?: boolean;
}

/** Limits in milliseconds. */
export interface Timeouts {
  /** Limit from the first look-up of the name until the connection, with TLS, stands. */
  connectMs: number;
  /** Limit from the request's last byte to the answer's first; bytes of a body renew it. */
  firstByteMs: number;
  /** Limit between two pieces of a body, also for the caller's taking them. */
  idleMs: number;
}
