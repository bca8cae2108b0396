import { parseHeaderLines, type HeaderLines } from '../header-lines.ts';

/** How the end of a body is known (RFC 9112, section 6.3). */
export type Framing =
  | { kind: 'none' }
  | { kind: 'length'; bytes: number }
  | { kind: 'chunked' }
  | { kind: 'close' };

/** Status line and header lines of an answer; header lines as in `rawHeaders`. */
export interface ResponseHead {
  status: number;
  reason: string;
  headers: HeaderLines;
  framing: Framing;
  /** Whether the connection may carry another request after the body. */
  isPersistent: boolean;
}

/**
 * Reads the head of an answer strictly: what two programs could understand in two ways (both
 * lengths, folded lines, blanks before the colon) is refused rather than guessed, for the next
 * answer on the connection may belong to somebody else.
 * @param text latin1, up to the CRLF of the last line before the empty one; @param method of the
 *   request: HEAD has no body
 * @returns the head, or what is wrong with it
 */
export function parseResponseHead(text: string, method: string): ResponseHead | string {
  const lineEnd = text.indexOf('\r\n');
  const line = text.slice(0, lineEnd);
  if (!STATUS_LINE.test(line)) return 'its status line is not HTTP/1.1';
  const lines = parseHeaderLines(text.slice(lineEnd + 2));
  if (lines === undefined) return 'it has a header line that is not "name: value"';
  const head: ResponseHead = {
    status: Number(line.slice(9, 12)),
    reason: line.slice(13),
    headers: lines,
    framing: { kind: 'close' },
    isPersistent: line.charAt(7) === '1',
  };
  const notes: Notes = { length: undefined, coding: undefined, problem: undefined };
  for (let index = 0; index + 1 < lines.length; index += 2) noteHeader(index, head, notes);
  return notes.problem ?? frame(head, notes, method);
}

/** With the version at 7, the status at 9 and the reason at 13. */
const STATUS_LINE = /^HTTP\/1\.[01] [1-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/** What the header lines said about the body. */
interface Notes {
  length: string | undefined;
  coding: string | undefined;
  problem: string | undefined;
}

function noteHeader(index: number, head: ResponseHead, notes: Notes): void {
  const name = head.headers[index] ?? '';
  // The lengths of the names below: comparing lengths rules out most headers quickly.
  if (name.length !== 10 && name.length !== 14 && name.length !== 17) return;
  const value = head.headers[index + 1] ?? '';
  switch (name.toLowerCase()) {
    case 'content-length':
      noteLength(value, notes);
      return;
    case 'transfer-encoding':
      notes.coding = notes.coding === undefined ? value : `${notes.coding}, ${value}`;
      return;
    case 'connection':
      head.isPersistent &&= !/(?:^|,)\s*close\s*(?:,|$)/i.test(value);
      return;
  }
}

function noteLength(value: string, notes: Notes): void {
  if (notes.length !== undefined || !/^\d{1,15}$/.test(value)) {
    notes.problem = 'its Content-Length is not one number';
  }
  notes.length = value;
}

function frame(
  head: ResponseHead,
  { length, coding }: Notes,
  method: string,
): ResponseHead | string {
  if (coding !== undefined && length !== undefined) {
    return 'it has both Content-Length and Transfer-Encoding';
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return 'its Transfer-Encoding is not chunked';
  }
  if (method === 'HEAD' || head.status < 200 || head.status === 204 || head.status === 304) {
    head.framing = { kind: 'none' };
  } else if (coding !== undefined) head.framing = { kind: 'chunked' };
  else if (length !== undefined) head.framing = { kind: 'length', bytes: Number(length) };
  if (head.framing.kind === 'close') head.isPersistent = false;
  return head;
}
