import { nearest } from '../../nearest.ts';
import { parseWords, rankRows } from './search.ts';
import type { View } from './view.ts';

/**
 * The words of a search that nothing is called or described by, each replaced by the nearest word
 * of a name or a title.
 * @returns undefined if a word has none, too many are unknown, or nothing would change
 */
export function respell({ offered, local }: View, query: string): string | undefined {
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

/** Each is compared with every word there is, and nobody else is answered meanwhile. */
const MOST_UNKNOWN = 3;

/** Of all names and titles; a name of several words is one, too. */
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
