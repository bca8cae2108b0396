import { appOf } from '../../package-management/names.ts';
import { foldCase } from './letter-case.ts';
import type { PackageIndex } from './package-index.ts';

/** The words of a query as rows are searched for them: in lower case, each once. */
export function parseWords(query: string): Buffer[] {
  const words = foldCase(query)
    .split(/[\s\0]+/)
    .map((word) => appOf(word).name)
    .filter((word) => word !== '');
  return [...new Set(words)].map((word) => Buffer.from(word));
}

/** How well a word fits, the best first; 0 stands for not at all. */
const EXACT_NAME = 1;
const NAME_PREFIX = 2;
const INSIDE_NAME = 3;
const TITLE = 4;
const DESCRIPTION = 5;
/** The largest sum of ranks over all words: it has to fit a byte. */
const WORST_RANK = 255;

/** Ranks rows by how well the words fit, summed: lower is better; 0 if one does not occur. */
export function rankRows(index: PackageIndex, words: readonly Buffer[]): Uint8Array {
  const ranks = new Uint8Array(index.count).fill(1);
  words.forEach((word, position) => {
    const found = rankByWord(index, word);
    for (let row = 0; row < ranks.length; row += 1) {
      const [sum, rank] = [ranks[row] ?? 0, found[row] ?? 0];
      if (sum === 0 || rank === 0) ranks[row] = 0;
      else ranks[row] = Math.min(position === 0 ? rank : sum + rank, WORST_RANK);
    }
  });
  return ranks;
}

/** One pass over the bytes: in each row name, title and description stand in that order. */
function rankByWord(index: PackageIndex, word: Buffer): Uint8Array {
  const { bytes, starts } = index.text.column;
  const ranks = new Uint8Array(index.count);
  let row = 0;
  let at = bytes.indexOf(word);
  while (at !== -1) {
    while ((starts[row + 1] ?? 0) <= at) row += 1;
    ranks[row] = rankOf(bytes, starts[row] ?? 0, { at, length: word.length });
    // The first occurrence is the best one of its row.
    at = bytes.indexOf(word, starts[row + 1]);
  }
  return ranks;
}

function rankOf(bytes: Buffer, start: number, { at, length }: { at: number; length: number }) {
  const nameEnd = bytes.indexOf(0, start);
  if (at === start) return at + length === nameEnd ? EXACT_NAME : NAME_PREFIX;
  if (at < nameEnd) return INSIDE_NAME;
  return at < bytes.indexOf(0, nameEnd + 1) ? TITLE : DESCRIPTION;
}
