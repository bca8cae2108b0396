import { Readable } from 'node:stream';
import { forwardedHeaders, type CallerRequest } from './caller.ts';
import type { Failure } from './failure.ts';
import type { HeaderLines } from './header-lines.ts';
import { requestHeaders } from './headers.ts';
import type { RequestBody } from './upstream/call.ts';

/** How the body of a request comes in (RFC 9112, section 6). */
export type BodyPlan = { kind: 'none' } | { kind: 'length'; length: string } | { kind: 'chunked' };

/**
 * Decides how the body goes on: with its length if it is known, else chunked. A body on GET or
 * HEAD is not sent on: it means nothing, and has served to smuggle requests.
 * @returns a failure if the message could be understood in two ways, or wants another protocol
 */
export function planBody(request: CallerRequest): BodyPlan | Failure {
  const { headers, method } = request;
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined && (length !== undefined || coding.trim().toLowerCase() !== 'chunked')) {
    const message = 'cannot pass the request: the length of its body is not clear';
    return { code: 'bad_request', message };
  }
  if (headers.upgrade !== undefined && headers.upgrade.toLowerCase() !== 'h2c') {
    const message = 'cannot change the protocol: the forge interface is plain HTTP';
    return { code: 'bad_request', message };
  }
  if (method === 'GET' || method === 'HEAD') return { kind: 'none' };
  if (coding !== undefined) return { kind: 'chunked' };
  return length === undefined ? { kind: 'none' } : { kind: 'length', length };
}

/** The body of a request with that plan; undefined if none goes on. */
export function bodyOf(
  request: CallerRequest,
  plan: BodyPlan,
  prefix?: Buffer,
): RequestBody | undefined {
  const isEmpty = plan.kind === 'none' || (plan.kind === 'length' && plan.length === '0');
  if (isEmpty || !(request instanceof Readable)) return undefined;
  return { prefix, source: request, isChunked: plan.kind === 'chunked', sentBytes: 0 };
}

export interface OutgoingHead {
  method: string;
  /** Path and query as they go out. */
  target: string;
  /** Value of `Host`. */
  host: string;
  /** Header lines as written, but for `Host` and the length. */
  block: string;
  plan: BodyPlan;
}

/** Request line and headers as written to the forge, latin1. */
export function writeHead({ method, target, host, block, plan }: OutgoingHead): string {
  const length = plan.kind === 'length' ? `Content-Length: ${plan.length}\r\n` : '';
  const coding = plan.kind === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : '';
  return `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${block}${length}${coding}\r\n`;
}

/** What goes to the forge in the headers, but for `Host` and the length. */
export function outgoingHeaders(request: CallerRequest): HeaderLines {
  return [...requestHeaders(request.rawHeaders), ...forwardedHeaders(request)];
}

/** Headers of a request to the forge as written; made once for requests with the same ones. */
export function outgoingBlock(request: CallerRequest): string {
  const { common } = request;
  if (common === undefined) return writeLines(outgoingHeaders(request));
  return (common.outgoing ??= writeLines(outgoingHeaders(request)));
}

/** Header lines, each with its CRLF; none with a line break, which no parser lets in. */
export function writeLines(headers: HeaderLines): string {
  const lines: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const line = `${headers[index] ?? ''}: ${headers[index + 1] ?? ''}`;
    if (!LINE_BREAK.test(line)) lines.push(line, '\r\n');
  }
  return lines.join('');
}

const LINE_BREAK = /[\r\n\0]/;
