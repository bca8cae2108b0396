import { prepareText, foldColumn, foldCase, unfoldRow, type FoldedColumn } from './letter-case.ts';
import { createTextColumnBuilder, rowOf, type TextColumn } from './text-column.ts';

/** What a list shows of an app or a package. */
export interface IndexRow {
  name: string;
  isApp: boolean;
  /** As people call it; empty if that is the name. */
  title: string;
  description: string;
  version: string;
  tags: readonly string[];
  section: string;
  feed: string;
  downloadBytes: number;
  installedBytes: number;
  /** Unix seconds, 0 if nobody says. */
  time: number;
}

/** Rows by name, packed: some 250 bytes for each package that a feed describes in a sentence. */
export interface PackageIndex {
  count: number;
  /** Name, title and description, with a NUL between them: what searches look at. */
  text: FoldedColumn;
  /** Version and tags. */
  rest: TextColumn;
  labels: readonly string[];
  sections: Uint16Array;
  feeds: Uint16Array;
  apps: Uint8Array;
  downloadBytes: Float64Array;
  installedBytes: Float64Array;
  times: Float64Array;
}

export interface IndexBuilder {
  /** Of two of one name and kind the newer version stays. */
  add: (row: IndexRow) => void;
  finish: () => PackageIndex;
}

/** A feed is outside data: what is more than this is left out. */
const MOST_ROWS = 50_000;
const MOST_TEXT_BYTES = 24 * 1024 ** 2;
const MOST_LABELS = 4000;
/** Of texts with capitals beyond ASCII; further ones are shown in lower case. */
const MOST_ORIGINAL_CHARACTERS = 1024 ** 2;
/** The whole text is in the details. */
const LONGEST_DESCRIPTION = 1000;
const LONGEST_TITLE = 120;

/** What is kept of a row until all are there and can be put in order. */
type Pending = Omit<IndexRow, 'title' | 'description' | 'tags' | 'section' | 'feed'> & {
  row: number;
  folded: string;
  section: number;
  feed: number;
};

export function createIndexBuilder(compareVersions: CompareVersions): IndexBuilder {
  const text = createTextColumnBuilder();
  const rest = createTextColumnBuilder();
  const labels = createLabels();
  const pending = new Map<string, Pending>();
  const originals = new Map<number, string>();
  let originalCharacters = 0;

  const addText = (source: IndexRow): number => {
    const { kept, original } = prepareText(searchedText(source));
    const row = text.add(kept);
    rest.add([source.version, ...source.tags].map(plain).join(SEPARATOR));
    if (original !== undefined && originalCharacters < MOST_ORIGINAL_CHARACTERS) {
      originals.set(row, original);
      originalCharacters += original.length;
    }
    return row;
  };
  return {
    add: (source) => {
      const { name, isApp, version, downloadBytes, installedBytes, time } = source;
      const key = `${isApp ? 'app' : 'package'} ${name}`;
      const known = pending.get(key);
      if (known !== undefined && compareVersions(version, known.version) <= 0) return;
      if (pending.size >= MOST_ROWS || text.size() > MOST_TEXT_BYTES) return;
      pending.set(key, {
        ...{ name, isApp, version, downloadBytes, installedBytes, time },
        row: addText(source),
        folded: foldCase(name),
        section: labels.numberOf(source.section),
        feed: labels.numberOf(source.feed),
      });
    },
    finish: () => {
      const rows = [...pending.values()].sort(inOrder);
      const order = rows.map(({ row }) => row);
      return {
        count: rows.length,
        text: foldColumn(text.finish(order), renumber(originals, order)),
        rest: rest.finish(order),
        labels: labels.all,
        sections: Uint16Array.from(rows, ({ section }) => section),
        feeds: Uint16Array.from(rows, ({ feed }) => feed),
        apps: Uint8Array.from(rows, ({ isApp }) => Number(isApp)),
        downloadBytes: Float64Array.from(rows, ({ downloadBytes }) => downloadBytes),
        installedBytes: Float64Array.from(rows, ({ installedBytes }) => installedBytes),
        times: Float64Array.from(rows, ({ time }) => time),
      };
    },
  };
}

export type CompareVersions = (a: string, b: string) => number;

const SEPARATOR = '\0';

function searchedText({ name, title, description }: IndexRow): string {
  return [name, title.slice(0, LONGEST_TITLE), description.slice(0, LONGEST_DESCRIPTION)]
    .map(plain)
    .join(SEPARATOR);
}

function plain(text: string): string {
  return text.replaceAll(SEPARATOR, ' ');
}

/** By name, whatever its case; an app before the package of its name. */
function inOrder(a: Pending, b: Pending): number {
  if (a.folded !== b.folded) return a.folded < b.folded ? -1 : 1;
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return Number(b.isApp) - Number(a.isApp);
}

function renumber(
  originals: ReadonlyMap<number, string>,
  order: readonly number[],
): Map<number, string> {
  const moved = new Map<number, string>();
  order.forEach((row, index) => {
    const original = originals.get(row);
    if (original !== undefined) moved.set(index, original);
  });
  return moved;
}

/** Few texts that many rows share; 0 is the empty one. */
function createLabels(): { all: string[]; numberOf: (label: string) => number } {
  const all = [''];
  const numbers = new Map([['', 0]]);
  return {
    all,
    numberOf: (label) => {
      const known = numbers.get(label);
      if (known !== undefined) return known;
      if (all.length >= MOST_LABELS) return 0;
      numbers.set(label, all.length);
      return all.push(label) - 1;
    },
  };
}

export function readRow(index: PackageIndex, row: number): IndexRow {
  const [name = '', title = '', description = ''] = unfoldRow(index.text, row).split(SEPARATOR);
  const [version = '', ...tags] = rowOf(index.rest, row).toString('utf8').split(SEPARATOR);
  return {
    ...{ name, title, description, version, tags },
    isApp: index.apps[row] === 1,
    section: index.labels[index.sections[row] ?? 0] ?? '',
    feed: index.labels[index.feeds[row] ?? 0] ?? '',
    downloadBytes: index.downloadBytes[row] ?? 0,
    installedBytes: index.installedBytes[row] ?? 0,
    time: index.times[row] ?? 0,
  };
}

export function versionAt({ rest }: PackageIndex, row: number): string {
  const [version = ''] = rowOf(rest, row).toString('utf8').split(SEPARATOR, 1);
  return version;
}

/** The row of that name and kind, by halving. */
export function findRow(index: PackageIndex, name: string, isApp: boolean): number | undefined {
  for (let row = firstNotBefore(index, foldCase(name)); row < index.count; row += 1) {
    if (foldedName(index, row) !== foldCase(name)) return undefined;
    if ((index.apps[row] === 1) === isApp && readRow(index, row).name === name) return row;
  }
  return undefined;
}

/** The first row whose folded name does not stand before this one. */
export function firstNotBefore(index: PackageIndex, folded: string): number {
  let [low, high] = [0, index.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (foldedName(index, middle) < folded) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Package names are ASCII. */
export function foldedName({ text: { column } }: PackageIndex, row: number): string {
  const start = column.starts[row] ?? 0;
  return column.bytes.toString('latin1', start, column.bytes.indexOf(0, start));
}
