import type { Socket } from 'node:net';
import type { Call, CallFailure, ResponseSink, Timeouts } from './call.ts';
import { createResponseReader, type ResponseReader } from './response-reader.ts';
import { createUpload, type Upload } from './upload.ts';

/**
 * One connection to the forge. Invariants:
 * - it carries one call at a time, and the next only when the call before is over on both sides and
 *   nothing of it is left to read;
 * - its read buffer is read into again only when every piece given out has been let go;
 * - anything it did not expect ends it.
 */
export interface Connection {
  /** Milliseconds of `performance.now()` after which `expire` is due. */
  deadlineAt: number;
  /** Since when it waits for a call, in milliseconds of `performance.now()`. */
  idleSince: number;
  start(call: Call, sink: ResponseSink): void;
  expire(): void;
  /** Ends it; the sink hears of it only if a failure is given. */
  destroy(failure?: CallFailure): void;
}

export interface ConnectionOwner {
  timeouts: Timeouts;
  /** Opens the socket; `receive` gets each piece that is read and says whether to read on. */
  open: (receive: (piece: Buffer) => boolean) => OpenSocket;
  /** Called once the connection stands: the forge can be reached. */
  connected: () => void;
  /** The connection is free for a call once what the forge sent already has been seen. */
  idle: (connection: Connection) => void;
  closed: (connection: Connection) => void;
}

export interface OpenSocket {
  socket: Socket;
  /** What the socket emits when it can be written to. */
  readyEvent: 'connect' | 'secureConnect';
}

export function createConnection(owner: ConnectionOwner): Connection {
  const { socket, readyEvent } = owner.open((piece) => receivePiece(line, piece));
  const connection: Connection = {
    deadlineAt: performance.now() + owner.timeouts.connectMs,
    idleSince: Number.POSITIVE_INFINITY,
    start: (call, sink) => start(line, call, sink),
    expire: () => fail(line, expiryOf(line)),
    destroy: (failure) => (failure === undefined ? close(line) : fail(line, failure)),
  };
  const reader = createResponseReader({
    sink: () => line.current?.sink,
    hold: () => (line.held += 1),
    letGo: () => letGo(line),
    complete: () => complete(line),
  });
  const line: Line = {
    owner,
    socket,
    reader,
    connection,
    state: 'connecting',
    current: undefined,
    served: 0,
    held: 0,
  };
  socket.once(readyEvent, () => ready(line));
  socket.on('end', () => broken(line, ENDED));
  socket.on('error', (error) => broken(line, reasonCode(error)));
  socket.on('close', () => broken(line, 'closed'));
  return connection;
}

interface Line {
  owner: ConnectionOwner;
  socket: Socket;
  reader: ResponseReader;
  connection: Connection;
  state: 'connecting' | 'open' | 'closed';
  current: Current | undefined;
  /** Calls that were answered on this connection. */
  served: number;
  /** Pieces of the read buffer that a sink still needs. */
  held: number;
}

interface Current {
  call: Call;
  sink: ResponseSink;
  upload: Upload | undefined;
  /** Whether any byte of an answer came. */
  hasBytes: boolean;
  /** Whether the whole answer came. */
  isOver: boolean;
}

/** How long an idle connection is kept, in milliseconds. */
const IDLE_KEEP_MS = 15_000;

function start(line: Line, call: Call, sink: ResponseSink): void {
  line.connection.idleSince = Number.POSITIVE_INFINITY;
  line.current = { call, sink, upload: undefined, hasBytes: false, isOver: false };
  if (line.state === 'open') write(line, line.current);
}

function ready(line: Line): void {
  line.state = 'open';
  line.owner.connected();
  if (line.current !== undefined) write(line, line.current);
}

function write(line: Line, current: Current): void {
  const { socket, reader, owner } = line;
  const { head, body, method } = current.call;
  touch(line, owner.timeouts.firstByteMs);
  reader.begin(method);
  if (body === undefined) {
    socket.write(head, 'latin1');
    return;
  }
  const moved = (): void =>
    touch(line, current.hasBytes ? owner.timeouts.idleMs : owner.timeouts.firstByteMs);
  socket.cork();
  socket.write(head, 'latin1');
  current.upload = createUpload({ body, socket, moved });
  socket.uncork();
}

function touch(line: Line, limitMs: number): void {
  line.connection.deadlineAt = performance.now() + limitMs;
}

/** @returns whether to read on */
function receivePiece(line: Line, piece: Buffer): boolean {
  const { current, reader, owner } = line;
  if (current === undefined || current.isOver || line.state !== 'open') {
    close(line);
    return false;
  }
  current.hasBytes = true;
  touch(line, owner.timeouts.idleMs);
  const problem = reader.receive(piece);
  if (problem !== undefined) {
    const message = `cannot use the answer of the forge: ${problem}`;
    fail(line, { code: 'upstream_unreachable', message });
  }
  return line.held === 0 && isOpen(line);
}

/** What the compiler cannot see: that a call in between may have closed the line. */
function isOpen(line: Line): boolean {
  return line.state === 'open';
}

function letGo(line: Line): void {
  line.held -= 1;
  if (line.held > 0 || line.state !== 'open') return;
  if (line.current?.isOver === true) release(line);
  else {
    touch(line, line.owner.timeouts.idleMs);
    line.socket.resume();
  }
}

function complete(line: Line): void {
  const { current } = line;
  if (current === undefined) return;
  current.isOver = true;
  current.upload?.stop();
  if (line.held === 0) release(line);
  current.sink.end();
}

/** The answer is over: the connection stays if both sides are at a clean end. */
function release(line: Line): void {
  const { connection, reader, owner } = line;
  const isClean = reader.isReusable() && (line.current?.upload?.isDone() ?? true);
  line.current = undefined;
  line.served += 1;
  if (!isClean) {
    close(line);
    return;
  }
  connection.idleSince = performance.now();
  connection.deadlineAt = connection.idleSince + IDLE_KEEP_MS;
  line.socket.resume();
  owner.idle(connection);
}

function expiryOf({ state, held, current, owner: { timeouts } }: Line): CallFailure {
  const timeout = (message: string): CallFailure => ({ code: 'upstream_timeout', message });
  const [idleS, firstByteS] = [timeouts.idleMs / 1000, timeouts.firstByteMs / 1000];
  if (state === 'connecting') {
    return timeout(`cannot connect to the forge within ${timeouts.connectMs / 1000} s`);
  }
  if (held > 0) {
    return timeout(`cannot hand over the answer: the caller took nothing for ${idleS} s`);
  }
  if (current?.hasBytes === true) {
    return timeout(`cannot read the answer: the forge sent nothing for ${idleS} s`);
  }
  if (current?.upload?.isDone() === false) {
    return timeout(`cannot send the request: its body stood still for ${firstByteS} s`);
  }
  return timeout(`cannot get an answer: the forge sent nothing within ${firstByteS} s`);
}

function broken(line: Line, reason: string): void {
  const { current, reader } = line;
  if (reason === ENDED && reader.endsWithConnection()) complete(line);
  const isConnecting = line.state === 'connecting';
  const message = isConnecting
    ? `cannot reach the forge: ${reason}`
    : `cannot finish the request: the forge broke off (${reason})`;
  const isStale = line.served > 0 && current?.hasBytes === false;
  fail(line, { code: 'upstream_unreachable', message, isStale });
}

function fail(line: Line, failure: CallFailure): void {
  const { current } = line;
  close(line);
  if (current?.isOver === false) current.sink.fail(failure);
}

function close(line: Line): void {
  if (line.state === 'closed') return;
  line.state = 'closed';
  line.current?.upload?.stop();
  line.current = undefined;
  line.socket.destroy();
  line.owner.closed(line.connection);
}

const ENDED = 'connection ended';

/** The system's or TLS's name of an error: its text may hold addresses of the inner net. */
function reasonCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
