import { parseHeaderLines, type HeaderLines } from '../header-lines.ts';

/** How the end of a body is known (RFC 9112, section 6.3). */
export type Framing = { kind: 'none' } | { kind: 'length'; bytes: number } | { kind: 'chunked' } | { kind: 'close' };

/** Status line and header lines of an answer; header lines as in `rawHeaders`. */
export interface ResponseHead {
  status: number;
  reason: string;
  headers: HeaderLines;
  framing: Framing;
  /** Whether the connection may carry another request after the body. */
  isPersistent: boolean;
  /** What `Keep-Alive: timeout=` announces, in seconds. */
  keepAliveSeconds: number | undefined;
}

/**
 * Reads the head of an answer strictly: what two programs could understand in two ways (both lengths, folded lines, blanks before the colon) is
 * refused rather than guessed, for the next answer on the connection may belong to somebody else.
 * @param text latin1, without the empty line at its end; @param method of the request: HEAD has no body
 * @returns the head, or what is wrong with it
 */
export function parseResponseHead(text: string, method: string): ResponseHead | string {
  const lineEnd = text.indexOf('\r\n');
  const match = STATUS_LINE.exec(lineEnd === -1 ? text : text.slice(0, lineEnd));
  if (match === null) return 'its status line is not HTTP/1.1';
  const lines = lineEnd === -1 ? [] : parseHeaderLines(`${text.slice(lineEnd + 2)}\r\n`);
  if (lines === undefined) return 'it has a header line that is not "name: value"';
  const head: ResponseHead = {
    status: Number(match[2]),
    reason: match[3] ?? '',
    headers: [],
    framing: { kind: 'close' },
    isPersistent: match[1] === '1',
    keepAliveSeconds: undefined,
  };
  const notes: Notes = { length: undefined, coding: undefined, problem: undefined };
  for (let index = 0; index + 1 < lines.length; index += 2) readLine({ name: lines[index] ?? '', value: lines[index + 1] ?? '' }, head, notes);
  return notes.problem ?? frame(head, notes, method);
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/;

/** What the header lines said about the body. */
interface Notes {
  length: string | undefined;
  coding: string | undefined;
  problem: string | undefined;
}

function readLine(line: { name: string; value: string }, head: ResponseHead, notes: Notes): void {
  if (!takeNote(line, head, notes)) head.headers.push(line.name, line.value);
}

/** @returns whether the line is to be left out: a length that is given twice */
function takeNote({ name, value }: { name: string; value: string }, head: ResponseHead, notes: Notes): boolean {
  switch (name.toLowerCase()) {
    case 'content-length':
      if (notes.length === value) return true;
      if (notes.length !== undefined || !/^\d{1,15}$/.test(value)) notes.problem = 'its Content-Length is not one number';
      notes.length = value;
      return false;
    case 'transfer-encoding':
      notes.coding = notes.coding === undefined ? value : `${notes.coding}, ${value}`;
      return false;
    case 'connection':
      if (/(?:^|,)\s*close\s*(?:,|$)/i.test(value)) head.isPersistent = false;
      return false;
    case 'keep-alive':
      head.keepAliveSeconds = secondsOf(value);
      return false;
    default:
      return false;
  }
}

function secondsOf(value: string): number | undefined {
  const digits = /timeout\s*=\s*"?(\d{1,6})/i.exec(value)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function frame(head: ResponseHead, { length, coding }: Notes, method: string): ResponseHead | string {
  if (coding !== undefined && length !== undefined) return 'it has both Content-Length and Transfer-Encoding';
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'its Transfer-Encoding is not chunked';
  if (method === 'HEAD' || head.status < 200 || head.status === 204 || head.status === 304) head.framing = { kind: 'none' };
  else if (coding !== undefined) head.framing = { kind: 'chunked' };
  else if (length !== undefined) head.framing = { kind: 'length', bytes: Number(length) };
  if (head.framing.kind === 'close') head.isPersistent = false;
  return head;
}
