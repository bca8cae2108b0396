/** Header lines as Node's `rawHeaders` has them: name, value, name, value, … as sent, latin1. */
export type HeaderLines = string[];

/**
 * Header lines `name: value` that end with CRLF: no blank before the colon, nothing folded, no
 * bare CR or LF (RFC 9112, section 5).
 */
const HEADER_BLOCK = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/;

/** @param block latin1; @returns undefined if a line could be understood in two ways */
export function parseHeaderLines(block: string): HeaderLines | undefined {
  if (!HEADER_BLOCK.test(block)) return undefined;
  const lines: HeaderLines = [];
  for (let start = 0; start < block.length;) {
    const end = block.indexOf('\r\n', start);
    const colon = block.indexOf(':', start);
    lines.push(block.slice(start, colon), withoutBlanks(block, colon + 1, end));
    start = end + 2;
  }
  return lines;
}

/** Blanks and tabs alone (RFC 9110, 5.6.3): a byte of UTF-8 may look like another space. */
function withoutBlanks(text: string, start: number, end: number): string {
  let [from, to] = [start, end];
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (from < to && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** For a question of our own: nothing about a body, and an answer that can be read as it comes. */
export function withoutBodyHeaders(headers: HeaderLines): HeaderLines {
  const unfit = /^(?:content-.*|accept-encoding|if-.*|range)$/i;
  return headers.filter((_, index) => !unfit.test(headers[index - (index % 2)] ?? ''));
}
