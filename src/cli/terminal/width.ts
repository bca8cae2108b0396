/** Characters of two columns, such as Chinese ones: Unicode Standard Annex 11, roughly. */
const WIDE = new RegExp(
  '[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f' +
    '\\uff00-\\uff60\\uffe0-\\uffe6\\u{1f300}-\\u{1faff}\\u{20000}-\\u{3fffd}]',
  'u',
);

/** Columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : 1;
  return width;
}

/** As much of a text's beginning as so many columns have room for. */
export function fitting(text: string, columns: number): string {
  let found = '';
  let width = 0;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    found += character;
  }
  return found;
}

/** Filled with blanks to so many columns. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** A word or a wide character with what opens and ends it: no line is broken inside. */
const WORD = `(?:(?!${WIDE.source})\\S)+`;
const OPENING = '[\uff08\u300c\u201c]*';
const ENDING = '[\uff0c\uff1b\uff1a\u3001\u3002\uff01\uff1f\uff09\u300d\u201d\u2026]*';
const UNIT = new RegExp(`(\\s*)(${OPENING}(?:${WIDE.source}|${WORD})${ENDING}|(?<=\\s)$)`, 'gu');

/** Lines of so many columns, broken between words or wide characters, or within a longer word. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const [, blanks = '', unit = ''] of text.matchAll(UNIT)) {
    const gap = line === '' || blanks === '' ? '' : ' ';
    const isFitting = widthOf(line + gap + unit) <= columns;
    if (line !== '' && !isFitting) lines.push(line);
    const pieces = piecesOf(unit, columns);
    lines.push(...pieces.slice(0, -1));
    line = (isFitting ? line + gap : '') + (pieces.at(-1) ?? '');
  }
  return [...lines, line];
}

/** Lines behind a lead: the first one next to it, and the others as far in. */
export function hanging(lead: string, lines: readonly string[], indent: number): string[] {
  const [first = '', ...rest] = lines;
  return [lead + first, ...rest.map((line) => ' '.repeat(indent) + line)];
}

/** What may stand before the text of a message. */
const LEAD = /^(?:depotctl: )? *(?:\u2192 )?/;

/** Lines of so many columns at most; what is broken goes on below the text of its line. */
export function wrapMessage(message: string, columns: number): string {
  return message
    .split('\n')
    .flatMap((line) => {
      const lead = LEAD.exec(line)?.[0] ?? '';
      const indent = widthOf(lead);
      return hanging(lead, wrap(line.slice(lead.length), Math.max(20, columns - indent)), indent);
    })
    .join('\n');
}

function piecesOf(word: string, columns: number): string[] {
  if (widthOf(word) <= columns) return [word];
  const pieces: string[] = [];
  let piece = '';
  for (const character of word) {
    if (piece !== '' && widthOf(piece) + widthOf(character) > columns) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return [...pieces, piece];
}
