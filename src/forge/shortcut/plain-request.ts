import type { Socket } from 'node:net';
import type { CallerRequest } from '../caller.ts';
import { parseHeaderLines, type HeaderLines } from '../header-lines.ts';

/** A GET without a body, of which every byte is understood in one way only. It has what Node's own request has, but for a body. */
export interface PlainRequest extends CallerRequest {
  method: 'GET';
  url: string;
}

/** Request line and headers together, in bytes. */
const MAX_HEAD_BYTES = 8192;

/** RFC 9112, section 3: origin form only, and the visible characters of ASCII. */
const REQUEST_LINE = /^GET (\/[\x21-\x7e]*) HTTP\/1\.1$/;

/** What frames a body, changes the protocol, or asks this hop for something. */
const NOT_PLAIN = new Set(['content-length', 'transfer-encoding', 'upgrade', 'expect', 'te', 'trailer', 'http2-settings', 'proxy-authorization']);

/**
 * Reads what one read of a connection gave. Only what is exactly one whole plain request is taken; a header that comes twice, none that names
 * the host, and anything else unusual is for a parser that knows all of HTTP.
 * @returns undefined where it is anything else
 */
export function parsePlainRequest(bytes: Buffer, socket: Socket): PlainRequest | undefined {
  if (bytes.length > MAX_HEAD_BYTES || bytes[0] !== 0x47) return undefined;
  const text = bytes.toString('latin1');
  const lineEnd = text.indexOf('\r\n');
  if (lineEnd === -1 || !text.endsWith('\r\n\r\n')) return undefined;
  const url = REQUEST_LINE.exec(text.slice(0, lineEnd))?.[1];
  const rawHeaders = parseHeaderLines(text.slice(lineEnd + 2, -2));
  const headers = rawHeaders === undefined ? undefined : plainHeaders(rawHeaders);
  if (url === undefined || rawHeaders === undefined || headers === undefined) return undefined;
  return { method: 'GET', url, rawHeaders, headers, socket };
}

/** By name in lower case. @returns undefined where they are not those of a plain request; nor are names that every object has */
function plainHeaders(lines: HeaderLines): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const name = (lines[index] ?? '').toLowerCase();
    if (name in headers || NOT_PLAIN.has(name)) return undefined;
    headers[name] = lines[index + 1] ?? '';
  }
  return headers['host'] !== undefined && isPlainConnection(headers['connection']) ? headers : undefined;
}

function isPlainConnection(value: string | undefined): boolean {
  return value === undefined || /^(?:keep-alive|close)$/i.test(value);
}
