import { STATUS_CODES } from 'node:http';
import { ERROR_STATUS, type ErrorCode } from '../../errors.ts';
import type { CallerResponse } from './caller.ts';

/** Why the proxy itself refuses a request: data, for the caller, the metrics and health. */
export interface Failure {
  code: ErrorCode;
  /** The failure for people; never holds a query, a header value or a body. */
  message: string;
}

/** The header that tells the proxy's own answers from the forge's. Its value is the error code. */
const FAILURE_HEADER = 'X-Depotd-Error';

/**
 * Answers in the forge's error shape, `{"message","url"}`. If an answer is already under way its
 * connection is broken instead, for a clean end would make half a file look whole.
 */
export function answerFailure(response: CallerResponse, { code, message }: Failure): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = Buffer.from(JSON.stringify({ message, url: '' })).toString('latin1');
  const lines = [
    ...['Content-Type', 'application/json;charset=utf-8', 'Content-Length', `${body.length}`],
    ...['Cache-Control', 'no-store', FAILURE_HEADER, code],
  ];
  const status = ERROR_STATUS[code];
  response.writeHead(status, STATUS_CODES[status] ?? '', lines);
  response.end(body, 'latin1');
}
