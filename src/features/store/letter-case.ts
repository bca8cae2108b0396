import { rowOf, type TextColumn } from './text-column.ts';

/**
 * A text column in lower case for searches, and what is needed to show it as it was: a bit of each
 * byte. A second copy would cost eight times as much.
 */
export interface FoldedColumn {
  column: TextColumn;
  /** Whether a byte was a capital letter of ASCII; the lowest bit of each eight is the first. */
  capitals: Uint8Array;
  /** Rows with capital letters beyond ASCII, as they were. */
  originals: ReadonlyMap<number, string>;
}

const ASCII = /^[\0-\x7f]*$/;

/** Lower case as searches compare it; letters that Unicode writes in two ways become one. */
export function foldCase(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : text.normalize('NFC').toLowerCase();
}

/** The column's bytes are changed. @param originals by row */
export function foldColumn(column: TextColumn, originals: ReadonlyMap<number, string>) {
  const { bytes } = column;
  const capitals = new Uint8Array(Math.ceil(bytes.length / 8));
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < CAPITAL_A || byte > CAPITAL_Z) continue;
    bytes[at] = byte | SMALL;
    capitals[at >> 3] = (capitals[at >> 3] ?? 0) | (1 << (at & 7));
  }
  return { column, capitals, originals };
}

const CAPITAL_A = 0x41;
const CAPITAL_Z = 0x5a;
const SMALL = 0x20;

/** A row as it was. */
export function unfoldRow({ column, capitals, originals }: FoldedColumn, row: number): string {
  const original = originals.get(row);
  if (original !== undefined) return original;
  const start = column.starts[row] ?? 0;
  const bytes = Buffer.from(rowOf(column, row));
  for (let index = 0; index < bytes.length; index += 1) {
    const at = start + index;
    const isCapital = ((capitals[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
    if (isCapital) bytes[index] = (bytes[index] ?? 0) & ~SMALL;
  }
  return bytes.toString('utf8');
}

/** What the column keeps of a text, and the text if capitals beyond ASCII would be lost. */
export function prepareText(text: string): { kept: string; original?: string } {
  if (ASCII.test(text)) return { kept: text };
  const composed = text.normalize('NFC');
  const lower = composed.toLowerCase();
  const asciiLower = composed.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  return lower === asciiLower ? { kept: composed } : { kept: lower, original: composed };
}
