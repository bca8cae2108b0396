import type { Socket } from 'node:net';
import type { CallerResponse } from '../caller.ts';
import type { HeaderLines } from '../header-lines.ts';

export interface DirectResponse extends CallerResponse {
  destroyed: boolean;
  /** The connection has gone. */
  closed(): void;
}

interface DirectResponseOptions {
  socket: Socket;
  /** Whether the connection ends behind the answer. */
  isLast: boolean;
  /** The answer has been handed to the socket as a whole. */
  over: () => void;
}

/** How long Node's own server keeps an idle connection, and says so. Seconds. */
const KEEP_ALIVE_SECONDS = 5;

/** One answer to a GET, in the bytes of Node's own server: a small one at once. */
export function createDirectResponse({
  socket,
  isLast,
  over,
}: DirectResponseOptions): DirectResponse {
  /** What waits to be written together with what follows. */
  let waiting = '';
  let isChunked = false;
  let isOver = false;
  let listener: (() => void) | undefined;
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    listener?.();
  };
  const response: DirectResponse = {
    headersSent: false,
    statusCode: 0,
    // No getter for `destroyed`: V8 would keep a hidden class for each object.
    destroyed: false,
    writeHead: (status, reason, lines) => {
      response.headersSent = true;
      response.statusCode = status;
      isChunked = status !== 204 && status !== 304 && !hasName(lines, 'content-length');
      const end = isChunked ? 'Transfer-Encoding: chunked\r\n\r\n' : '\r\n';
      const head = `HTTP/1.1 ${status} ${reason}\r\n${linesOf(lines)}`;
      waiting = `${head}${isLast ? CLOSE : KEEP_ALIVE}${end}`;
    },
    flushHeaders: () => {
      if (waiting !== '') socket.write(waiting, 'latin1');
      waiting = '';
    },
    write: (piece, done) => {
      socket.cork();
      response.flushHeaders();
      if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
      socket.write(piece, done);
      if (isChunked) socket.write('\r\n', 'latin1');
      socket.uncork();
      return !socket.writableNeedDrain;
    },
    end: (text) => {
      const last = isChunked ? chunksOf(text) : text;
      if (waiting !== '' || last !== '') socket.write(waiting + last, 'latin1');
      waiting = '';
      finish();
      over();
    },
    destroy: () => socket.destroy(),
    once: (_event, given) => {
      listener = given;
    },
    closed: () => {
      response.destroyed = true;
      finish();
    },
  };
  return response;
}

const CLOSE = 'Connection: close\r\n';
const KEEP_ALIVE = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_SECONDS}\r\n`;

/** Header lines, each with its CRLF, and the date if there is none. */
function linesOf(lines: HeaderLines): string {
  let text = '';
  for (let index = 0; index + 1 < lines.length; index += 2) {
    text += `${lines[index] ?? ''}: ${lines[index + 1] ?? ''}\r\n`;
  }
  return hasName(lines, 'date') ? text : `${text}Date: ${new Date().toUTCString()}\r\n`;
}

function hasName(lines: HeaderLines, name: string): boolean {
  for (let index = 0; index < lines.length; index += 2) {
    const line = lines[index] ?? '';
    if (line.length === name.length && line.toLowerCase() === name) return true;
  }
  return false;
}

/** The rest of a chunked body (RFC 9112, section 7.1); text of one byte a character. */
function chunksOf(text: string): string {
  return text === '' ? '0\r\n\r\n' : `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}
