import type { Socket } from 'node:net';
import { MOST_FIELDS } from '../../../http/guard.ts';
import type { CallerRequest, CommonPart } from '../caller.ts';
import { parseHeaderLines, type HeaderLines } from '../header-lines.ts';

/** A GET without a body, of which every byte is understood in one way only. */
export interface PlainRequest extends CallerRequest {
  method: 'GET';
  url: string;
  common: PlainHeaders;
}

/** The next request of a connection mostly has the very same bytes there, and shares them. */
export interface PlainHeaders extends CommonPart {
  /** The headers as sent, with the ends of the line before and of the last one. */
  block: string;
  rawHeaders: HeaderLines;
  headers: Record<string, string>;
  /** Whether the caller wants the connection to end behind the answer. */
  isLast: boolean;
}

/** Request line and headers together, in bytes. */
const MAX_HEAD_BYTES = 8192;

/** RFC 9112, section 3: origin form only, and the visible characters of ASCII. */
const REQUEST_LINE = /^GET \/[\x21-\x7e]* HTTP\/1\.1$/;
const BEFORE_TARGET = 'GET '.length;
const BEHIND_TARGET = ' HTTP/1.1'.length;

/** What frames a body, changes the protocol, or asks this hop for something. */
const NOT_PLAIN = new Set([
  ...['content-length', 'transfer-encoding', 'te', 'trailer'],
  ...['upgrade', 'http2-settings', 'expect', 'proxy-authorization'],
]);

/**
 * Exactly one whole plain request. A header that comes twice, none that names the host, and
 * anything unusual is for a parser that knows all of HTTP: undefined.
 * @param known the headers of the request before on this connection
 */
export function parsePlainRequest(
  bytes: Buffer,
  socket: Socket,
  known?: PlainHeaders,
): PlainRequest | undefined {
  if (bytes.length > MAX_HEAD_BYTES || bytes[0] !== 0x47) return undefined;
  const text = bytes.toString('latin1');
  const lineEnd = text.indexOf('\r\n');
  if (lineEnd === -1 || !REQUEST_LINE.test(text.slice(0, lineEnd))) return undefined;
  const block = text.slice(lineEnd);
  const common = block === known?.block ? known : readHeaders(block);
  if (common === undefined) return undefined;
  return {
    method: 'GET',
    url: text.slice(BEFORE_TARGET, lineEnd - BEHIND_TARGET),
    rawHeaders: common.rawHeaders,
    headers: common.headers,
    socket,
    common,
  };
}

function readHeaders(block: string): PlainHeaders | undefined {
  const rawHeaders = block.endsWith('\r\n\r\n') ? parseHeaderLines(block.slice(2, -2)) : undefined;
  const headers = rawHeaders === undefined ? undefined : plainHeaders(rawHeaders);
  if (rawHeaders === undefined || headers === undefined) return undefined;
  return {
    block,
    rawHeaders,
    headers,
    isLast: headers['connection']?.toLowerCase() === 'close',
    outgoing: undefined,
  };
}

/**
 * By name in lower case. @returns undefined if they are not those of a plain request; nor are names
 * that every object has
 */
function plainHeaders(lines: HeaderLines): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const name = (lines[index] ?? '').toLowerCase();
    if (name in headers || NOT_PLAIN.has(name)) return undefined;
    headers[name] = lines[index + 1] ?? '';
  }
  const isUsual = lines.length <= 2 * MOST_FIELDS && headers['host'] !== undefined;
  const isPlain = /^(?:keep-alive|close)$/i.test(headers['connection'] ?? 'keep-alive');
  return isUsual && isPlain ? headers : undefined;
}
