import type { Socket } from 'node:net';
import { ERROR_STATUS, type ErrorCode } from '../errors.ts';
import { HEADERS_TIMEOUT_MS } from './connection-hook.ts';

/** What Node's parser refuses is told in JSON, too. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, reason, why } = UNREADABLE[error.code ?? ''] ?? NO_HTTP;
  const status = ERROR_STATUS[code];
  const body = JSON.stringify({ code: status, msg: `cannot read the request: ${why}` });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; ` +
      `charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: ` +
      `close\r\n\r\n${body}`,
  );
}

interface Unreadable {
  code: ErrorCode;
  /** The status line's text. */
  reason: string;
  why: string;
}

/** Answers to what Node's parser refuses, by Node's code. */
const UNREADABLE: Record<string, Unreadable> = {
  HPE_HEADER_OVERFLOW: {
    code: 'header_too_large',
    reason: 'Request Header Fields Too Large',
    why: 'its headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'too_slow',
    reason: 'Request Timeout',
    why: `its headers took more than ${HEADERS_TIMEOUT_MS / 1000} s`,
  },
};
const NO_HTTP: Unreadable = { code: 'bad_request', reason: 'Bad Request', why: 'it is not HTTP' };
