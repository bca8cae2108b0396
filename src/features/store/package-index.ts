import { appOf, luciSubjectOf } from '../../package-management/names.ts';
import { prepareText, foldColumn, foldCase, unfoldRow, type FoldedColumn } from './letter-case.ts';
import { createNumberColumns, createNumberLists, type NumberColumns } from './number-columns.ts';
import { createLateApps, type IndexRow, type SourceRow } from './row.ts';
import { isAppAt, isLuciAppAt, kindAt, kindOf } from './row-kinds.ts';
import { createTextColumnBuilder, rowOf, type TextColumn } from './text-column.ts';

/** Rows by name, packed: some 250 bytes for each package that a feed describes in a sentence. */
export interface PackageIndex extends NumberColumns {
  count: number;
  /** Name, title and descriptions, with a NUL between them: what searches look at. */
  text: FoldedColumn;
  /** Version and tags. */
  rest: TextColumn;
  labels: readonly string[];
}

/** A feed is outside data: what is more than this is left out. */
const MOST_ROWS = 30_000;
const MOST_TEXT_BYTES = 12 * 1024 ** 2;
const MOST_LABELS = 4000;
/** What most packages need, so that buffers seldom have to grow. */
const TEXT_BYTES = 300;
const REST_BYTES = 24;
/** Room for texts with capitals beyond ASCII; further ones are shown in lower case. */
const MOST_ORIGINAL_CHARACTERS = 1024 ** 2;
/** The whole text is in the details. */
const LONGEST_DESCRIPTION = 1000;
const LONGEST_TITLE = 120;

/** @param expectedRows a guess */
export function createIndexBuilder(compareVersions: CompareVersions, expectedRows: number) {
  const text = createTextColumnBuilder(expectedRows * TEXT_BYTES);
  const rest = createTextColumnBuilder(expectedRows * REST_BYTES);
  const labels = createLabels();
  /** Rows by their key; of one that was replaced the bytes are left out at the end. */
  const rows = new Map<string, number>();
  const numbers = createNumberLists();
  const late = createLateApps();
  const originals = new Map<number, string>();
  let originalCharacters = 0;

  const addText = (source: SourceRow): number => {
    const { kept, original } = prepareText(searchedText(source));
    const row = text.add(kept);
    const tags = source.tags.map((tag) => `${SEPARATOR}${plain(tag)}`);
    rest.add(`${plain(source.version)}${tags.join('')}`);
    if (original !== undefined && originalCharacters < MOST_ORIGINAL_CHARACTERS) {
      originals.set(row, original);
      originalCharacters += original.length;
    }
    return row;
  };
  const addNumbers = (source: IndexRow): void => {
    numbers.kinds.push(kindOf(source));
    numbers.sections.push(labels.numberOf(source.section));
    numbers.feeds.push(labels.numberOf(source.feed));
    numbers.downloadBytes.push(source.downloadBytes);
    numbers.installedBytes.push(source.installedBytes);
    numbers.times.push(source.time);
  };
  const put = (source: SourceRow, known?: string): string => {
    const row = addText(source);
    addNumbers(source);
    // The name itself is a piece of the list, and would keep the whole of that in memory.
    const key = known ?? keyOf({ name: copyOf(source.name), isApp: source.isApp });
    rows.set(key, row);
    return key;
  };
  const describe = (names: readonly string[]): string => {
    for (const name of names) {
      const row = rows.get(keyOf({ name, isApp: false }));
      if (row === undefined || labels.all[numbers.sections[row] ?? 0] === 'libs') continue;
      const shown = originals.get(row) ?? text.row(row).toString();
      const [, , description = ''] = shown.split(SEPARATOR);
      if (description !== '') return description;
    }
    return '';
  };
  return {
    /** Adds a row; of two of one name and kind the newer version stays. */
    add: (source: SourceRow): void => {
      const key = keyOf(source);
      const known = rows.get(key);
      const version = known === undefined ? '' : firstIn(rest.row(known));
      if (known !== undefined && compareVersions(source.version, version) <= 0) return;
      if (rows.size >= MOST_ROWS || text.size() > MOST_TEXT_BYTES) return;
      const kept = put(source, known === undefined ? undefined : key);
      late.note(kept, source);
    },
    finish: (): PackageIndex => {
      for (const [key, app] of late.finish(describe)) put(app, key);
      const order = sortRows(rows);
      return {
        count: order.length,
        text: foldColumn(text.finish(order), renumber(originals, order)),
        rest: rest.finish(order),
        labels: labels.all,
        ...createNumberColumns(numbers, order),
      };
    },
  };
}

/** Names are ASCII without a NUL. */
function keyOf({ name, isApp }: Pick<IndexRow, 'name' | 'isApp'>): string {
  return isApp ? `${name}${SEPARATOR}` : name;
}

function copyOf(name: string): string {
  return Buffer.from(name, 'latin1').toString('latin1');
}

/** Sorts by name, whatever its case, an app before the package of its name. */
function sortRows(rows: ReadonlyMap<string, number>): number[] {
  const sorted = [...rows].map(([key, row]) => {
    const isApp = key.endsWith(SEPARATOR);
    const name = isApp ? key.slice(0, -SEPARATOR.length) : key;
    return { folded: foldCase(name), name, isApp, row };
  });
  sorted.sort((a, b) => {
    // Lists are nearly in order: this is what is asked of most.
    if (a.folded !== b.folded) return a.folded < b.folded ? -1 : 1;
    if (a.name !== b.name) return a.name < b.name ? -1 : 1;
    return Number(b.isApp) - Number(a.isApp);
  });
  return sorted.map(({ row }) => row);
}

export type CompareVersions = (a: string, b: string) => number;

const SEPARATOR = '\0';

function searchedText({ name, title, description, english = '' }: SourceRow): string {
  const texts = `${plain(title.slice(0, LONGEST_TITLE))}${SEPARATOR}${plain(description)}`;
  const shown = `${name}${SEPARATOR}${texts.slice(0, LONGEST_TITLE + LONGEST_DESCRIPTION)}`;
  return english === '' ? shown : `${shown}${SEPARATOR}${english.slice(0, LONGEST_DESCRIPTION)}`;
}

function plain(text: string): string {
  return text.includes(SEPARATOR) ? text.replaceAll(SEPARATOR, ' ') : text;
}

function firstIn(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}

function renumber(originals: ReadonlyMap<number, string>, order: readonly number[]) {
  const moved = new Map<number, string>();
  order.forEach((row, index) => {
    const original = originals.get(row);
    if (original !== undefined) moved.set(index, original);
  });
  return moved;
}

/** Texts that many rows share, such as names of feeds, by number; 0 is the empty one. */
function createLabels(): { all: string[]; numberOf: (label: string) => number } {
  const all = [''];
  const numbers = new Map([['', 0]]);
  return {
    all,
    numberOf: (label) => {
      const known = numbers.get(label);
      if (known !== undefined) return known;
      if (all.length >= MOST_LABELS) return 0;
      // A copy: the label is a piece of the list's text, and would keep all of that in memory.
      const own = Buffer.from(label).toString();
      numbers.set(own, all.length);
      return all.push(own) - 1;
    },
  };
}

export function readRow(index: PackageIndex, row: number): IndexRow {
  const [name = '', title = '', description = ''] = unfoldRow(index.text, row).split(SEPARATOR);
  const [version = '', ...tags] = rowOf(index.rest, row).toString('utf8').split(SEPARATOR);
  return {
    ...{ name, title, description, version, tags, ...kindAt(index, row) },
    section: index.labels[index.sections[row] ?? 0] ?? '',
    feed: index.labels[index.feeds[row] ?? 0] ?? '',
    downloadBytes: index.downloadBytes[row] ?? 0,
    installedBytes: index.installedBytes[row] ?? 0,
    time: index.times[row] ?? 0,
  };
}

export function versionAt({ rest }: PackageIndex, row: number): string {
  return firstIn(rowOf(rest, row));
}

/** The row of that name and kind, by halving. */
export function findRow(index: PackageIndex, name: string, isApp: boolean): number | undefined {
  for (let row = firstNotBefore(index, foldCase(name)); row < index.count; row += 1) {
    if (foldedName(index, row) !== foldCase(name)) return undefined;
    if (isAppAt(index, row) === isApp && readRow(index, row).name === name) return row;
  }
  return undefined;
}

/** Where a package is: an app under the app's name. */
export function findPackage(index: PackageIndex, packageName: string): number | undefined {
  const { name, isApp } = appOf(packageName);
  const row = findRow(index, name, isApp);
  if (row !== undefined || isApp || luciSubjectOf(name) === undefined) return row;
  const app = findRow(index, name, true);
  return app !== undefined && isLuciAppAt(index, app) ? app : undefined;
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
