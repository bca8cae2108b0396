import { Readable } from 'node:stream';
import type { CallerRequest } from './caller.ts';
import type { Failure } from './failure.ts';
import type { HeaderLines } from './header-lines.ts';
import type { RequestBody } from './upstream/call.ts';

/** How the body of a request comes in (RFC 9112, section 6). */
export type BodyPlan = { kind: 'none' } | { kind: 'length'; length: string } | { kind: 'chunked' };

/**
 * Decides how the body goes on: with its length where it is known, else chunked. A body on GET or HEAD is not sent on: it means nothing, and
 * has served to smuggle requests.
 * @returns a failure where the message could be understood in two ways, or wants another protocol
 */
export function planBody(request: CallerRequest): BodyPlan | Failure {
  const { headers, method } = request;
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (coding !== undefined && (length !== undefined || coding.trim().toLowerCase() !== 'chunked')) {
    return { code: 'bad_request', message: 'cannot pass the request: the length of its body is not clear' };
  }
  if (headers.upgrade !== undefined && headers.upgrade.toLowerCase() !== 'h2c') {
    return { code: 'bad_request', message: 'cannot change the protocol: the forge interface is plain HTTP' };
  }
  if (method === 'GET' || method === 'HEAD') return { kind: 'none' };
  if (coding !== undefined) return { kind: 'chunked' };
  return length === undefined ? { kind: 'none' } : { kind: 'length', length };
}

/** The body of a request with that plan; undefined where none goes on. */
export function bodyOf(request: CallerRequest, plan: BodyPlan, prefix?: Buffer): RequestBody | undefined {
  if (plan.kind === 'none' || (plan.kind === 'length' && plan.length === '0') || !(request instanceof Readable)) return undefined;
  return { prefix, source: request, isChunked: plan.kind === 'chunked', sentBytes: 0 };
}

export interface OutgoingHead {
  method: string;
  /** Path and query as they go out. */
  target: string;
  /** Value of `Host`. */
  host: string;
  headers: HeaderLines;
  plan: BodyPlan;
}

/** Request line and headers as written to the forge, latin1. @throws never: a value with a line break is left out, though no parser lets one in */
export function writeHead({ method, target, host, headers, plan }: OutgoingHead): string {
  let head = `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const line = `${headers[index] ?? ''}: ${headers[index + 1] ?? ''}`;
    if (!LINE_BREAK.test(line)) head += `${line}\r\n`;
  }
  if (plan.kind === 'length') head += `Content-Length: ${plan.length}\r\n`;
  else if (plan.kind === 'chunked') head += 'Transfer-Encoding: chunked\r\n';
  return `${head}\r\n`;
}

const LINE_BREAK = /[\r\n\0]/;
