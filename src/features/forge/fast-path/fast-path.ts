import type { Socket } from 'node:net';
import type { Activity, ConnectionHook, NextServer } from '../../../http/connection-hook.ts';
import type { CallerResponse } from '../caller.ts';
import { createDirectResponse, type DirectResponse } from './direct-response.ts';
import { parsePlainRequest, type PlainHeaders, type PlainRequest } from './plain-request.ts';

/**
 * The short way of a plain GET through the daemon: read from the connection and answered on it,
 * without Node's HTTP server, which costs more than all the rest of the way. Invariants:
 * - a connection is in one hand: here from its beginning, until something comes that is not a plain
 *   request for `handle`; from then on, and with that first byte, Node's server has it;
 * - it carries one request at a time; what comes while one is answered is read by Node's server
 *   afterwards;
 * - nothing is answered, or refused, here but what `handle` accepts.
 */
export function createFastPath(options: FastPathOptions): ConnectionHook {
  const path: FastPath = { ...options, lines: new Set(), sweeper: undefined };
  return (socket, next) => {
    const line = follow(path, socket, next);
    return () => activityOf(line);
  };
}

export interface FastPathOptions {
  /** Answers the request, or returns false and has not touched the response. */
  handle: (request: PlainRequest, response: CallerResponse) => boolean;
  /** Limit for the first request of a connection, from its beginning. */
  firstRequestMs: number;
  /** Limit for the next request, from the end of an answer. */
  keepAliveMs: number;
  /** Limit for a client that reads nothing of its answer. */
  stalledMs: number;
}

/** A connection in this hand. */
interface Line {
  socket: Socket;
  /** The answer under way. */
  response: DirectResponse | undefined;
  hasServed: boolean;
  /** When the next request, or a reading of what is written, is due, by `performance.now()`. */
  deadlineAt: number;
  /** What the client had not read at the last check, in bytes. */
  unsentBytes: number;
  /** The headers of the last request, if they are not too long. */
  known: PlainHeaders | undefined;
  /** What came while an answer was under way. */
  early: Buffer | undefined;
  refuseLate: () => void;
  handOver: (first: Buffer) => void;
}

interface FastPath extends FastPathOptions {
  lines: Set<Line>;
  /** Runs while there are connections: one timer costs less than one each, set with each byte. */
  sweeper: NodeJS.Timeout | undefined;
}

/** How late a deadline may be noticed, in milliseconds; less if the limits are shorter. */
const SWEEP_MS = 500;
/** What is remembered of each connection for its next request, in bytes. */
const MAX_KNOWN_BYTES = 2048;

function follow(path: FastPath, socket: Socket, next: NextServer): Line {
  const { lines, firstRequestMs, keepAliveMs, stalledMs } = path;
  const read = (bytes: Buffer): void => receive(path, line, bytes);
  const ended = (): void =>
    line.response === undefined ? socket.destroySoon() : void socket.destroy();
  const closed = (): void => {
    leave(path, line);
    line.response?.closed();
  };
  const handOver = (first: Buffer): void => {
    leave(path, line);
    socket.off('data', read).off('end', ended).off('close', closed).off('error', ignore);
    socket.pause();
    socket.unshift(first);
    next.handOver();
    // Resumed within the event that brought the first bytes, it would flow on however often Node's
    // server pauses it for a slow reader of a body.
    process.nextTick(() => socket.resume());
  };
  const line: Line = {
    socket,
    response: undefined,
    hasServed: false,
    deadlineAt: performance.now() + firstRequestMs,
    unsentBytes: 0,
    known: undefined,
    early: undefined,
    refuseLate: next.refuseLate,
    handOver,
  };
  lines.add(line);
  path.sweeper ??= setInterval(
    () => sweep(path),
    Math.min(SWEEP_MS, firstRequestMs, keepAliveMs, stalledMs),
  ).unref();
  socket.on('data', read).on('end', ended).on('close', closed).on('error', ignore);
  return line;
}

function leave(path: FastPath, line: Line): void {
  path.lines.delete(line);
  if (path.lines.size > 0) return;
  clearInterval(path.sweeper);
  path.sweeper = undefined;
}

function sweep({ lines, keepAliveMs, stalledMs }: FastPath): void {
  const now = performance.now();
  for (const line of lines) {
    const activity = activityOf(line);
    if (activity === 'busy') continue;
    if (activity === 'draining') {
      const { writableLength } = line.socket;
      if (writableLength !== line.unsentBytes) line.deadlineAt = now + stalledMs;
      else if (line.deadlineAt < now) line.socket.destroy();
      line.unsentBytes = writableLength;
      continue;
    }
    if (line.unsentBytes > 0) line.deadlineAt = now + keepAliveMs;
    line.unsentBytes = 0;
    if (line.deadlineAt >= now) continue;
    if (line.hasServed || line.socket.writableEnded) line.socket.destroy();
    else line.refuseLate();
  }
}

function activityOf({ socket, response }: Line): Activity {
  if (response !== undefined) return 'busy';
  return socket.writableLength === 0 ? 'idle' : 'draining';
}

function ignore(): void {
  // The connection's `close` follows.
}

function receive({ handle, keepAliveMs }: FastPath, line: Line, bytes: Buffer): void {
  const { socket } = line;
  if (line.response !== undefined) {
    socket.pause();
    line.early = bytes;
    return;
  }
  const request = parsePlainRequest(bytes, socket, line.known);
  if (request === undefined) {
    line.handOver(bytes);
    return;
  }
  const { isLast, block } = request.common;
  if (block.length <= MAX_KNOWN_BYTES) line.known = request.common;
  line.response = createDirectResponse({
    socket,
    isLast,
    over: () => over(line, isLast, keepAliveMs),
  });
  if (handle(request, line.response)) return;
  line.response = undefined;
  line.handOver(bytes);
}

function over(line: Line, isLast: boolean, keepAliveMs: number): void {
  const { socket, early } = line;
  line.response = undefined;
  if (socket.destroyed) return;
  if (isLast) socket.destroySoon();
  else if (early !== undefined) line.handOver(early);
  else {
    line.hasServed = true;
    line.deadlineAt = performance.now() + keepAliveMs;
  }
}
