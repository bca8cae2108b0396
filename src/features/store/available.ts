import type { ItemPage } from './documentation.ts';
import { itemOf } from './item.ts';
import { TRANSLATION_PREFIX } from '../../package-management/names.ts';
import { readRow, type PackageIndex } from './package-index.ts';
import { isAppAt, isForOthersAt } from './row-kinds.ts';
import { parseWords, rankRows } from './search.ts';
import { indexOf, installedBytesOf, type View } from './store-view.ts';
import { nearest } from '../../nearest.ts';

/** What is asked of the list of everything. */
export interface Query {
  q: string;
  kind: 'app' | 'package' | 'all';
  /** Leaves out what is there for other packages alone. */
  isProgramsOnly: boolean;
  /** Leaves out packages of the image, what came along, and translations. */
  isAskedOnly: boolean;
  state: 'all' | 'installed' | 'upgradable';
  /** Tag that is wanted; empty for any. */
  tag: string;
  sort: 'relevance' | 'name' | 'size' | 'time';
}

export interface Paging {
  page: number;
  perPage: number;
}

/** How many queries' results are kept for their next pages: 4 bytes an item each. */
const KEPT_RESULTS = 4;

/** Answers queries on a view. The results of the newest queries are kept as long as the view is. */
export function createPages() {
  const kept = new WeakMap<View, Map<string, Found>>();
  return (view: View, query: Query, { page, perPage }: Paging): Omit<ItemPage, 'lists'> => {
    const known = kept.get(view) ?? new Map<string, Found>();
    kept.set(view, known);
    const key = JSON.stringify(Object.entries(query).sort());
    const found = known.get(key) ?? find(view, query);
    known.delete(key);
    known.set(key, found);
    const [oldest] = known.keys();
    if (known.size > KEPT_RESULTS && oldest !== undefined) known.delete(oldest);
    const from = (page - 1) * perPage;
    const { ids, suggestion } = found;
    return {
      total: ids.length,
      ...(suggestion !== undefined && { suggestion }),
      page,
      per_page: perPage,
      items: Array.from(ids.subarray(from, from + perPage), (id) => itemOf(view, id)),
    };
  };
}

interface Found {
  ids: Uint32Array;
  suggestion?: string;
}

function find(view: View, query: Query): Found {
  const ids = findIds(view, query);
  if (ids.length > 0 || query.q.trim() === '') return { ids };
  const suggestion = respell(view, query.q);
  const isOfUse = suggestion !== undefined && findIds(view, { ...query, q: suggestion }).length > 0;
  return isOfUse ? { ids, suggestion } : { ids };
}

function findIds(view: View, query: Query): Uint32Array {
  const words = parseWords(query.q);
  const ranks = [view.offered, view.local].map((index) => rankRows(index, words));
  const hasTag = tagFilter(view, query.tag);
  const rankOf = (id: number): number => {
    const isLocal = id >= view.offered.count;
    return ranks[Number(isLocal)]?.[isLocal ? id - view.offered.count : id] ?? 0;
  };
  const ids = view.order.filter(
    (id) => rankOf(id) > 0 && isOfKind(view, id, query) && isInState(view, id, query) && hasTag(id),
  );
  if (query.sort === 'relevance') return sortByNumber(ids, (id) => -rankOf(id));
  if (query.sort === 'size') return sortByNumber(ids, (id) => sizeOf(view, id));
  return query.sort === 'time' ? sortByNumber(ids, (id) => timeOf(view, id)) : ids;
}

function isOfKind(view: View, id: number, query: Query): boolean {
  const { kind, isProgramsOnly, isAskedOnly } = query;
  const { index, row } = indexOf(view, id);
  if (isAskedOnly && !isAskedAt(view, id)) return false;
  if (isProgramsOnly && isForOthersAt(index, row)) return false;
  if (kind === 'all') return true;
  return isAppAt(index, row) === (kind === 'app');
}

/** An app, or a package that somebody has installed for its own sake. */
function isAskedAt(view: View, id: number): boolean {
  const { index, row } = indexOf(view, id);
  if (isAppAt(index, row)) return true;
  const found = view.installed.get(id);
  if (found === undefined || found.isAuto || found.isSystem) return false;
  return !readRow(index, row).name.startsWith(TRANSLATION_PREFIX);
}

function isInState({ installed }: View, id: number, { state }: Query): boolean {
  if (state === 'all') return true;
  const found = installed.get(id);
  return state === 'installed' ? found !== undefined : found?.isUpgradable === true;
}

/** A tag is one of an app's meta file or of a feed, or a section. */
function tagFilter(view: View, tag: string): (id: number) => boolean {
  if (tag === '') return () => true;
  const [offered, local] = [rowsWithTag(view.offered, tag), rowsWithTag(view.local, tag)];
  return (id) => (id < view.offered.count ? offered.has(id) : local.has(id - view.offered.count));
}

function rowsWithTag(index: PackageIndex, tag: string): Set<number> {
  const { bytes, starts } = index.rest;
  const rows = new Set<number>();
  const needle = Buffer.from(`\0${tag}\0`);
  let row = 0;
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, starts[row + 1])) {
    while ((starts[row + 1] ?? 0) <= at) row += 1;
    // The match must end in this row: the NUL at its end is followed by the next row's version.
    if (at + 1 < (starts[row + 1] ?? 0)) rows.add(row);
  }
  const section = index.labels.indexOf(tag);
  if (section > 0) {
    index.sections.forEach((label, at) => {
      if (label === section) rows.add(at);
    });
  }
  return rows;
}

/** The largest first; what is the same, in order of the names. */
function sortByNumber(ids: Uint32Array, numberOf: (id: number) => number): Uint32Array {
  const numbers = Float64Array.from(ids, numberOf);
  const positions = Uint32Array.from(ids, (_, position) => position);
  positions.sort((a, b) => (numbers[b] ?? 0) - (numbers[a] ?? 0) || a - b);
  return positions.map((position) => ids[position] ?? 0);
}

function sizeOf(view: View, id: number): number {
  const { index, row } = indexOf(view, id);
  return installedBytesOf(view, id) || (index.downloadBytes[row] ?? 0);
}

function timeOf(view: View, id: number): number {
  const { index, row } = indexOf(view, id);
  return view.installed.get(id)?.time || (index.times[row] ?? 0);
}

/**
 * The words of a search, each that nothing is called or described by replaced by the nearest word
 * of a name or a title.
 * @returns undefined if a word has none, too many are unknown, or nothing would change
 */
function respell({ offered, local }: View, query: string): string | undefined {
  const indexes = [local, offered];
  const words = parseWords(query).map((word) => word.toString('utf8'));
  const isKnown = (word: string): boolean =>
    indexes.some((index) => rankRows(index, parseWords(word)).some((rank) => rank > 0));
  const unknown = new Set(words.filter((word) => !isKnown(word)));
  if (unknown.size === 0 || unknown.size > MOST_UNKNOWN) return undefined;
  const vocabulary = [...new Set(indexes.flatMap(wordsIn))];
  const meant = new Map<string, string>();
  for (const word of unknown) {
    const found = nearest(word, vocabulary);
    if (found === undefined) return undefined;
    meant.set(word, found);
  }
  return words.map((word) => meant.get(word) ?? word).join(' ');
}

/** Most unknown words: each is compared with all there are, and nobody else is answered then. */
const MOST_UNKNOWN = 3;

/** Words of all names and titles; a name of several words is one, too. */
function wordsIn({ count, text: { column } }: View['offered']): string[] {
  const found: string[] = [];
  for (let row = 0; row < count; row += 1) {
    const start = column.starts[row] ?? 0;
    const titleEnd = column.bytes.indexOf(0, column.bytes.indexOf(0, start) + 1);
    const [name = '', title = ''] = column.bytes.toString('utf8', start, titleEnd).split('\0');
    found.push(name, ...name.split(/[^a-z0-9]+/), ...title.split(/[^\p{L}\p{N}]+/u));
  }
  return found.filter((word) => word.length > 2);
}
