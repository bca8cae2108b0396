import { numberIn } from '../answer-fields.ts';
import { inert } from './others-text.ts';
import { shadeOf, type Paint, type Shade } from './paint.ts';
import { hanging, padTo, widthOf, wrap } from './width.ts';

/** How a table is shown. */
export interface TableLook {
  /** Width of the terminal; undefined if the output is none: then lines are as long as they are. */
  columns: number | undefined;
  paint: Paint;
  /** Which cell heads the block of a row on a very narrow terminal; by default the first. */
  titleAt?: number;
  /** Puts headings, names of fields and words such as states into the reader's language. */
  word?: (text: string) => string;
}

/** Columns of few words, which are the program's own. */
const OF_WORDS = ['STATE', 'KIND', 'WHY', 'CHANGE'];
/** Fields whose values are others' words. */
const OF_OTHERS = [
  ...['name', 'title', 'description', 'description_en', 'tags', 'flags', 'author', 'website'],
  ...['tutorial', 'section', 'license', 'maintainer'],
];
const asItIs = (text: string): string => text;

/** Blanks between the columns of a table. */
const GAP = 2;
/** The last column is wrapped if so much is left for it; else each row becomes a block. */
const LEAST_LAST_COLUMNS = 24;

/**
 * Rows below their headings, in columns as wide as their content. Nothing is cut: on a narrow
 * terminal the last column is wrapped, and on a very narrow one each cell has a line of its own.
 */
export function formatTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  { columns = Infinity, paint: shade, titleAt = 0, word = asItIs }: TableLook,
): string {
  const headings = names.map(word);
  const shades = new Map<string, Shade | undefined>();
  const clean = rows.map((row) =>
    row.map((cell, at) => {
      if (!OF_WORDS.includes(names[at] ?? '')) return oneLine(cell);
      const said = oneLine(word(cell));
      shades.set(said, shadeOf(cell));
      return said;
    }),
  );
  const paint: Paint = (text, asked) => shade(text, asked ?? shades.get(text));
  const widths = headings.map((heading, at) =>
    Math.max(widthOf(heading), ...clean.map((row) => widthOf(row[at] ?? ''))),
  );
  const lastAt = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP, 0);
  const isWide = lastAt + (widths.at(-1) ?? 0) > columns;
  if (isWide && columns - lastAt < LEAST_LAST_COLUMNS) {
    return clean.map((row) => blockOf(headings, row, { columns, paint, titleAt })).join('');
  }
  const layout = { widths, lastAt, columns, paint };
  const head = lineOf(headings, { ...layout, paint: (text) => paint(text, 'faint') });
  return [head, ...clean.map((row) => lineOf(row, layout))].join('');
}

interface Layout extends TableLook {
  widths: readonly number[];
  /** Where the last column begins. */
  lastAt: number;
  columns: number;
}

function lineOf(row: readonly string[], { widths, lastAt, columns, paint }: Layout): string {
  const before = row
    .slice(0, -1)
    .map((cell, at) => paint(cell, shadeOf(cell)) + padTo('', (widths[at] ?? 0) - widthOf(cell)))
    .map((cell) => cell + ' '.repeat(GAP))
    .join('');
  const last = row.at(-1) ?? '';
  const [first = '', ...rest] =
    columns === Infinity ? [last] : wrap(last, Math.max(1, columns - lastAt));
  return hanging(before, [paint(first, shadeOf(first)), ...rest], lastAt)
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** One row of a table that is too wide for its terminal. */
function blockOf(
  headings: readonly string[],
  cells: readonly string[],
  { columns = Infinity, paint, titleAt }: TableLook,
): string {
  const width = Math.max(...headings.map(widthOf)) + GAP;
  const lines = cells.flatMap((cell, at) => {
    if (cell === '' || at === titleAt) return [];
    const [head = '', ...rest] = wrap(cell, Math.max(10, columns - width - GAP));
    const label = padTo((headings[at] ?? '').toLowerCase(), width);
    const lead = `  ${paint(label, 'faint')}`;
    return hanging(lead, [paint(head, shadeOf(head)), ...rest], width + GAP);
  });
  return [paint(cells[titleAt ?? 0] ?? '', 'strong'), ...lines].map((line) => `${line}\n`).join('');
}

/** A field a line; empty ones are left out. */
export function formatFields(
  fields: readonly (readonly [string, string])[],
  { columns = Infinity, paint, word = asItIs }: TableLook,
): string {
  const width = Math.max(...fields.map(([name]) => widthOf(word(name)))) + GAP;
  const lines = fields
    .filter(([, value]) => value !== '')
    .flatMap(([name, value]) => {
      const text = oneLine(OF_OTHERS.includes(name) ? value : word(value));
      const texts = columns === Infinity ? [text] : wrap(text, Math.max(20, columns - width));
      return hanging(paint(padTo(word(name), width), 'faint'), texts, width);
    });
  return lines.map((line) => `${line}\n`).join('');
}

/** A cell in one line, and with the width that it is shown in. */
function oneLine(text: string): string {
  return inert(text.replace(/\p{Cc}+/gu, ' '));
}

/** Local time, such as `2026-11-21 05:17:55`. */
export function formatTime(unix: number): string {
  const date = new Date(unix * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  );
}

/** A span of seconds, such as `4 s` or `2 min 5 s`. */
export function formatSpan(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** The size that a field of an answer has; empty if there is none. */
export function sizeIn(body: unknown, name: string): string {
  const bytes = numberIn(body, name);
  return bytes === undefined ? '' : bytesText(bytes);
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** `593 B`, `1.2 KiB`, `38 MiB`: units of 1024, as short as it can be read. */
export function bytesText(bytes: number): string {
  const size = Math.abs(bytes);
  let unit = 0;
  let value = size;
  // What is rounded up to 1024 is one of the next unit.
  while (Number(value.toFixed(0)) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 9.95 ? 0 : 1;
  return `${bytes < 0 ? '-' : ''}${value.toFixed(digits)} ${UNITS[unit] ?? ''}`;
}
