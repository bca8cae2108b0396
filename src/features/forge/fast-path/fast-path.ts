import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { CallerResponse } from '../caller.ts';
import { createDirectResponse, type DirectResponse } from './direct-response.ts';
import { parsePlainRequest, type PlainHeaders, type PlainRequest } from './plain-request.ts';

/**
 * The short way of a plain GET through the daemon: read from the connection and answered on it,
 * without Node's HTTP server, which costs more than all the rest of the way. Invariants:
 * - a connection is in one hand: here from its beginning, until something comes that is not a plain
 *   request for a taker; from then on, and with that first byte, Node's server has it;
 * - it carries one request at a time; what comes while one is answered is read by Node's server
 *   afterwards;
 * - nothing is answered, or refused, here but what a taker took.
 */
export interface Shortcut {
  /** Ends the connections that wait for a request. */
  closeIdle(): void;
  closeAll(): void;
}

export interface ShortcutOptions {
  /** Answers the request, or returns false and has not touched the response. */
  take: (request: PlainRequest, response: CallerResponse) => boolean;
  /** For the first request of a connection, from its beginning. */
  firstRequestMs: number;
  /** For the next request, from the end of an answer. */
  keepAliveMs: number;
}

/**
 * Lets it have each connection first. What the server does with a new one, its only listener so
 * far, comes when it hands it over.
 */
export function putShortcutBefore(server: Server, options: ShortcutOptions): Shortcut {
  const lines = new Set<Line>();
  const listeners = server.listeners('connection');
  const handOver = (socket: Socket): void => {
    for (const listener of listeners) listener.call(server, socket);
  };
  const refuseLate = (socket: Socket): void => {
    const isTold = server.emit(
      'clientError',
      Object.assign(new Error('no request came'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      socket,
    );
    if (!isTold) socket.destroy();
  };
  const hall: Hall = { ...options, lines, handOver, refuseLate, sweeper: undefined };
  server
    .removeAllListeners('connection')
    .on('connection', (socket: Socket) => attend(hall, socket));
  const close = (isIn: (line: Line) => boolean): void => {
    for (const line of lines) if (isIn(line)) line.socket.destroy();
  };
  return {
    closeIdle: () => close(isIdle),
    closeAll: () => close(() => true),
  };
}

/** A connection in this hand. */
interface Line {
  socket: Socket;
  /** The answer under way. */
  response: DirectResponse | undefined;
  hasServed: boolean;
  /** When its next request must be there, in milliseconds of `Date.now()`. */
  deadlineAt: number;
  /** The headers of the last request, if they are not too long. */
  known: PlainHeaders | undefined;
  /** What came while an answer was under way. */
  early: Buffer | undefined;
  handOver: (first: Buffer) => void;
}

interface Hall extends ShortcutOptions {
  lines: Set<Line>;
  /** Gives a connection, of which nothing has been read, to Node's server. */
  handOver: (socket: Socket) => void;
  /** Tells a caller that its first request did not come in time, as Node's server would. */
  refuseLate: (socket: Socket) => void;
  /**
   * Runs while there are connections: one timer for all costs less than one each, set anew with
   * each byte.
   */
  sweeper: NodeJS.Timeout | undefined;
}

/** How late a deadline may be noticed, in milliseconds; less where the limits are shorter. */
const SWEEP_MS = 500;
/** What is remembered of each connection for its next request, in bytes. */
const MAX_KNOWN_BYTES = 2048;

function attend(hall: Hall, socket: Socket): void {
  const { lines } = hall;
  const read = (bytes: Buffer): void => take(hall, line, bytes);
  const ended = (): void =>
    line.response === undefined ? socket.destroySoon() : void socket.destroy();
  const closed = (): void => {
    leave(hall, line);
    line.response?.closed();
  };
  const handOver = (first: Buffer): void => {
    leave(hall, line);
    socket.off('data', read).off('end', ended).off('close', closed).off('error', ignore);
    socket.pause();
    socket.unshift(first);
    hall.handOver(socket);
    // Resumed within the event that brought the first bytes, it would flow on however often Node's
    // server pauses it for a slow reader of a body.
    process.nextTick(() => socket.resume());
  };
  const line: Line = {
    socket,
    response: undefined,
    hasServed: false,
    deadlineAt: Date.now() + hall.firstRequestMs,
    known: undefined,
    early: undefined,
    handOver,
  };
  lines.add(line);
  hall.sweeper ??= setInterval(
    () => sweep(hall),
    Math.min(SWEEP_MS, hall.firstRequestMs, hall.keepAliveMs),
  ).unref();
  socket.on('data', read).on('end', ended).on('close', closed).on('error', ignore);
}

function leave(hall: Hall, line: Line): void {
  hall.lines.delete(line);
  if (hall.lines.size > 0) return;
  clearInterval(hall.sweeper);
  hall.sweeper = undefined;
}

function sweep({ lines, keepAliveMs, refuseLate }: Hall): void {
  const now = Date.now();
  for (const line of lines) {
    if (!isIdle(line)) line.deadlineAt = now + keepAliveMs;
    else if (line.deadlineAt >= now) continue;
    else if (line.hasServed || line.socket.writableEnded) line.socket.destroy();
    else refuseLate(line.socket);
  }
}

/** What a caller has still to take, it may take as slowly as it likes. */
function isIdle({ socket, response }: Line): boolean {
  return response === undefined && socket.writableLength === 0;
}

function ignore(): void {
  // The connection's `close` follows.
}

function take({ take: takeRequest, keepAliveMs }: Hall, line: Line, bytes: Buffer): void {
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
  if (takeRequest(request, line.response)) return;
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
    line.deadlineAt = Date.now() + keepAliveMs;
  }
}
