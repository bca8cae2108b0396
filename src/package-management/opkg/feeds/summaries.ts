import { countIn, cutEntries, cutLine, type PackageSummary } from '../../listing.ts';
import { isOfApp } from '../../names.ts';
import { textOf } from './describe.ts';
import { parseDepends, parseNames } from '../database/stanza.ts';

export type OpkgSummary = PackageSummary & { architecture: string };

/**
 * What a piece of a package list says of each package, in one walk over its lines (Debian policy,
 * section 5.1; docs/reference/opkg.md). It makes few strings: of ten thousand packages, collecting
 * them took most of the time.
 * @param piece whole paragraphs
 * @param visit false ends the walk
 * @returns whether it came to the end
 */
export function visitSummaries(
  piece: Buffer,
  feed: string,
  visit: (summary: OpkgSummary) => boolean,
): boolean {
  // A character for each byte: positions are the same in both.
  const text = piece.toString('latin1');
  const fields = createFields(text);
  let at = 0;
  while (at < text.length) {
    const lineEnd = text.indexOf('\n', at);
    const end = lineEnd === -1 ? text.length : lineEnd;
    if (!isBlank(text, at, end)) fields.addLine(at, end);
    else if (fields.isEmpty()) fields.clear();
    else {
      if (!visit(summaryOf(fields, feed))) return false;
      fields.clear();
    }
    at = end + 1;
  }
  return fields.isEmpty() || visit(summaryOf(fields, feed));
}

/** The fields that a summary has, by how the label of each begins. */
const LABELS = [
  'Package:',
  'Version:',
  'Architecture:',
  'Section:',
  'Description:',
  'Tags:',
  'Size:',
  'Installed-Size:',
  'Depends:',
  'SourceDateEpoch:',
] as const;
type Label = (typeof LABELS)[number];

/** Few of the some fifteen fields of a paragraph begin like one of them. */
const BY_FIRST_LETTER: ReadonlyMap<number, readonly number[]> = new Map(
  LABELS.map(({ 0: letter = '' }) => [
    letter.charCodeAt(0),
    LABELS.flatMap((label, number) => (label.startsWith(letter) ? [number] : [])),
  ]),
);

interface Fields {
  addLine: (from: number, end: number) => void;
  /** A field's text with its continuation lines; empty if there is none. */
  text: (label: Label) => string;
  isEmpty: () => boolean;
  clear: () => void;
}

/** The fields of one paragraph after another, as positions. The first of a name counts. */
function createFields(text: string): Fields {
  const starts = new Int32Array(LABELS.length).fill(-1);
  const ends = new Int32Array(LABELS.length);
  /** The field that a continuation line belongs to; -1 for one that nobody wants. */
  let current = -1;
  let isEmpty = true;
  const labelAt = (at: number): number => {
    const candidates = BY_FIRST_LETTER.get(text.charCodeAt(at)) ?? NONE;
    for (const number of candidates) {
      if (starts[number] === -1 && text.startsWith(LABELS[number] ?? '', at)) return number;
    }
    return -1;
  };
  return {
    addLine: (from, end) => {
      if (isSpace(text.charCodeAt(from))) {
        if (current !== -1) ends[current] = end;
        return;
      }
      current = labelAt(from);
      if (current === -1) return;
      isEmpty = false;
      starts[current] = from + (LABELS[current] ?? '').length;
      ends[current] = end;
    },
    text: (label) => {
      const number = LABELS.indexOf(label);
      let start = starts[number] ?? -1;
      if (start === -1) return '';
      while (isSpace(text.charCodeAt(start))) start += 1;
      return decode(text.slice(start, Math.max(start, ends[number] ?? 0))).trim();
    },
    isEmpty: () => isEmpty,
    clear: () => {
      starts.fill(-1);
      current = -1;
      isEmpty = true;
    },
  };
}

const NONE: readonly number[] = [];

function summaryOf({ text }: Fields, feed: string): OpkgSummary {
  const name = cutLine(text('Package:'));
  return {
    name,
    version: cutLine(text('Version:')),
    architecture: cutLine(text('Architecture:')),
    section: cutLine(text('Section:')),
    description: textOf(text('Description:')),
    tags: cutEntries(parseNames(text('Tags:'))),
    downloadBytes: countIn(cutLine(text('Size:'))),
    installedBytes: countIn(cutLine(text('Installed-Size:'))),
    depends: isOfApp(name) ? cutEntries(parseDepends(text('Depends:'))) : [],
    time: countIn(cutLine(text('SourceDateEpoch:'))),
    feed,
  };
}

const ASCII = /^[\0-\x7f]*$/;

/** @param text a character for each byte of UTF-8 */
function decode(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, 'latin1').toString('utf8');
}

/** Nothing but what may stand in a line between paragraphs. */
function isBlank(text: string, from: number, end: number): boolean {
  let at = from;
  while (at < end && (isSpace(text.charCodeAt(at)) || text.charCodeAt(at) === RETURN)) at += 1;
  return at === end;
}

const SPACE = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}
