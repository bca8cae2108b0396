import { rowOf, type TextColumn } from './text-column.ts';

/**
 * A text column in lower case for searches, and what is needed to show it as it was: of each row
 * where its capital letters of ASCII are. A second copy would cost twenty times as much.
 */
export interface FoldedColumn {
  column: TextColumn;
  /** Of each row the bytes from one capital to the next; SKIP stands for no capital there. */
  capitals: TextColumn;
  /** Rows with capital letters beyond ASCII, as they were. */
  originals: ReadonlyMap<number, string>;
}

const ASCII = /^[\0-\x7f]*$/;

/** Lower case as searches compare it; letters that Unicode writes in two ways become one. */
export function foldCase(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : text.normalize('NFC').toLowerCase();
}

/** The column's bytes are changed. @param originals by row */
export function foldColumn(
  column: TextColumn,
  originals: ReadonlyMap<number, string>,
): FoldedColumn {
  const { bytes, starts } = column;
  const rows = starts.length - 1;
  let distances = Buffer.allocUnsafeSlow(2 * rows + SKIP);
  let size = 0;
  const ends = new Uint32Array(rows + 1);
  for (let row = 0; row < rows; row += 1) {
    const end = starts[row + 1] ?? 0;
    let last = starts[row] ?? 0;
    for (let at = last; at < end; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte < CAPITAL_A || byte > CAPITAL_Z) continue;
      bytes[at] = byte | SMALL;
      if (size > MOST_CAPITALS) continue;
      const needed = size + Math.floor((at - last) / SKIP) + 1;
      if (needed > distances.length) distances = Buffer.concat([distances], 2 * needed);
      for (; at - last >= SKIP; last += SKIP) distances[size++] = SKIP;
      distances[size++] = at - last;
      last = at;
    }
    ends[row + 1] = size;
  }
  return { column, capitals: packed(distances.subarray(0, size), ends), originals };
}

const CAPITAL_A = 0x41;
const CAPITAL_Z = 0x5a;
const SMALL = 0x20;
const SKIP = 255;
/** Of all rows; further ones are shown in lower case. */
const MOST_CAPITALS = 1024 ** 2;

/** One piece of memory: see number-columns.ts. */
function packed(bytes: Buffer, starts: Uint32Array): TextColumn {
  const memory = new ArrayBuffer(starts.byteLength + bytes.length);
  const column = {
    bytes: Buffer.from(memory, starts.byteLength),
    starts: new Uint32Array(memory, 0, starts.length),
  };
  column.starts.set(starts);
  column.bytes.set(bytes);
  return column;
}

/** A row as it was. */
export function unfoldRow({ column, capitals, originals }: FoldedColumn, row: number): string {
  const original = originals.get(row);
  if (original !== undefined) return original;
  const bytes = Buffer.from(rowOf(column, row));
  let at = 0;
  for (const distance of capitals.bytes.subarray(capitals.starts[row], capitals.starts[row + 1])) {
    at += distance;
    if (distance !== SKIP) bytes[at] = (bytes[at] ?? 0) & ~SMALL;
  }
  return bytes.toString('utf8');
}

/**
 * What the column keeps of a text, and the text itself if capitals beyond ASCII would be lost.
 */
export function prepareText(text: string): { kept: string; original?: string } {
  if (ASCII.test(text)) return { kept: text };
  const composed = text.normalize('NFC');
  const lower = composed.toLowerCase();
  const asciiLower = composed.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return lower === asciiLower ? { kept: composed } : { kept: lower, original: composed };
}
