import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { STALLED_MS, type Activity } from './connection-hook.ts';
import { gatherPieces } from './form.ts';

interface Followed {
  socket: Socket;
  /** Node's own reader of the connection. */
  parse: (bytes: Buffer) => void;
  /** The newest request. */
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  /** Whether bytes came that make no whole request yet. */
  isReceiving: boolean;
  /** When the newest request began, and the bytes of its body so far. */
  beganAt: number;
  bodyBytes: number;
  /** Whether bytes wait for the end of the answer. */
  isHeld: boolean;
  /** Gives the newest request what the parser found of its body, if that comes in chunks. */
  deliver: (() => void) | undefined;
  /** Hears how many bytes of bodies pass. */
  sweep: (bytes: number) => void;
}

/**
 * Each piece of a body is a buffer of its own, given back only when the young generation is swept,
 * which the engine does after some 40 MB. So it is asked for after so many bytes of bodies.
 */
const SWEEP_BYTES = 1024 ** 2;

/** While a body comes, a piece of at least so many bytes is passed on at once. */
const LEAST_BODY_PIECE = 1024;

/**
 * One request at a time for each connection. Node's server starts every pipelined request (RFC
 * 9112, section 9.3.2) at once, and keeps the answers of all in memory until the first is read: one
 * read of 64 KiB holds some 3,000 requests. The gate stands between the connection and Node's
 * parser. Invariants:
 * - the parser gets bytes of the next request only when the answer before has been handed to the
 *   system, so a client that does not read its answers is not read from either;
 * - the bytes that wait are in the connection's own read buffer, in their order;
 * - the gate never resumes a connection that Node has paused for a slow reader of a body.
 */
export function createRequestGate(server: Server, collectYoung: () => void) {
  const sweep = createSweep(collectYoung);
  const followed = new WeakMap<Socket, Followed>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = followed.get(request.socket);
    if (connection !== undefined) begin(connection, request, response);
  });
  /** Follows a connection that Node's server has just been given. */
  return (socket: Socket): (() => Activity) => {
    const connection = follow(server, socket, sweep);
    followed.set(socket, connection);
    return () => activityOf(connection);
  };
}

function follow(server: Server, socket: Socket, sweep: (bytes: number) => void): Followed {
  const [parse] = socket.listeners('data');
  if (parse === undefined) throw new Error("cannot follow a connection that Node's server left");
  const connection: Followed = {
    socket,
    parse: (bytes) => {
      parse.call(server, bytes);
      connection.deliver?.();
    },
    request: undefined,
    response: undefined,
    isReceiving: false,
    beganAt: 0,
    bodyBytes: 0,
    isHeld: false,
    deliver: undefined,
    sweep,
  };
  // The gate reads before the parser lets go: without a reader the connection would stop to flow.
  socket.on('data', (bytes: Buffer) => read(connection, bytes));
  socket.off('data', parse as (bytes: Buffer) => void);
  return connection;
}

function createSweep(collectYoung: () => void): (bytes: number) => void {
  let unswept = 0;
  return (bytes) => {
    unswept += bytes;
    if (unswept < SWEEP_BYTES) return;
    unswept = 0;
    collectYoung();
  };
}

function begin(connection: Followed, request: IncomingMessage, response: ServerResponse): void {
  const { socket } = connection;
  const beganAt = performance.now();
  Object.assign(connection, { request, response, isReceiving: false, beganAt, bodyBytes: 0 });
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  connection.deliver = isChunked ? joinPieces(request, socket) : undefined;
  // All is written, and waits for the client. Node sets another limit when the client has it.
  response.once('prefinish', () => socket.setTimeout(STALLED_MS));
  response.once('close', () => {
    connection.response = undefined;
    if (!connection.isHeld || socket.destroyed) return;
    connection.isHeld = false;
    socket.resume();
  });
}

function read(connection: Followed, bytes: Buffer): void {
  const { socket, parse } = connection;
  // The last answer has ended the connection: nothing that follows may have an effect.
  if (socket.writableEnded) return;
  if (isWaiting(connection)) {
    hold(connection, bytes);
    return;
  }
  connection.isReceiving = true;
  const isBody = connection.request?.complete === false;
  const end = pieceEnd(bytes, isBody ? LEAST_BODY_PIECE : 0);
  if (isBody) {
    connection.bodyBytes += end;
    connection.sweep(end);
  }
  if (end === bytes.length) {
    parse(bytes);
    return;
  }
  parse(bytes.subarray(0, end));
  if (socket.destroyed) return;
  if (isWaiting(connection)) hold(connection, bytes.subarray(end));
  else passOn(socket, bytes.subarray(end));
}

/** Whether the newest request came whole and its answer is under way. */
function isWaiting({ request, response }: Followed): boolean {
  return response !== undefined && request?.complete === true;
}

function hold(connection: Followed, rest: Buffer): void {
  connection.isHeld = true;
  connection.socket.pause();
  connection.socket.unshift(rest);
}

/** Has the rest read next, unless Node has paused the connection meanwhile. */
function passOn(socket: Socket, rest: Buffer): void {
  const isPaused = socket.isPaused();
  // A flowing stream would emit the rest at once, within unshift.
  socket.pause();
  socket.unshift(rest);
  if (!isPaused) socket.resume();
}

/**
 * One read may hold 10,000 chunks of a byte, each an object of some 400 for whoever keeps them or
 * does not read yet: all that a read brings of a body is one piece.
 * @returns what gives it to the request
 */
function joinPieces(request: IncomingMessage, socket: Socket): () => void {
  const push = request.push.bind(request);
  let gathered = gatherPieces();
  const deliver = (): void => {
    if (gathered.length() === 0) return;
    const piece = gathered.bytes();
    gathered = gatherPieces();
    // Node's parser pauses the socket in the same way when the request's buffer is full.
    if (!push(piece)) socket.pause();
  };
  request.push = (piece: Buffer | null): boolean => {
    if (piece !== null) {
      gathered.add(piece);
      return true;
    }
    deliver();
    return push(null);
  };
  return deliver;
}

const [LF, CR] = [0x0a, 0x0d];

/**
 * The end of a piece that ends at most one request, from so many bytes on: the headers of a request
 * end with a blank line. Node's parser knows lines that end with LF alone, too. Blank lines before
 * a request (RFC 9112, section 2.2) are no piece of their own: thousands of them would be as many.
 */
function pieceEnd(bytes: Buffer, least: number): number {
  let start = least;
  while (bytes[start] === LF || bytes[start] === CR) start += 1;
  let at = bytes.indexOf(LF, start);
  while (at !== -1) {
    const next = bytes[at + 1] === CR ? at + 2 : at + 1;
    if (bytes[next] === LF) return next + 1;
    at = bytes.indexOf(LF, at + 1);
  }
  return bytes.length;
}

/** Slowest rate of a body: whoever means to send one sends more, on the slowest line. */
const LEAST_BYTES_A_SECOND = 1000;
const FORM = /^application\/x-www-form-urlencoded\b/i;

/**
 * Whether what holds the answer up is a client that does not send its body. A form is small enough
 * to come at once; anything else, such as an upload, gets a second, and then counts by its rate.
 */
function isAwaited({ request, response, beganAt, bodyBytes }: Followed): boolean {
  if (request?.complete !== false || response?.headersSent === true) return false;
  if (FORM.test(request.headers['content-type'] ?? '')) return true;
  const seconds = (performance.now() - beganAt) / 1000;
  return seconds > 1 && bodyBytes < seconds * LEAST_BYTES_A_SECOND;
}

function activityOf(connection: Followed): Activity {
  const { request, response, isReceiving } = connection;
  const isComplete = request?.complete !== false;
  if (response === undefined) return isReceiving || !isComplete ? 'receiving' : 'idle';
  if (isAwaited(connection)) return 'receiving';
  return response.writableEnded && isComplete ? 'draining' : 'busy';
}
