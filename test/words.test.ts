import ts from 'typescript';
import { describe, expect, test } from 'vitest';

import { filesBelow, parseSource, readSource, visit } from './source-tree.ts';

/** The words that .github/CONTRIBUTING.md replaces: in names, and in what comments say. */
const NOT_IN_NAMES = [
  ...['goods', 'places', 'parts', 'front', 'door', 'turns', 'book', 'strays', 'stray', 'ailment'],
  ...['ailments', 'keeper', 'launcher', 'attend', 'attended', 'attends', 'attending'],
  // Verbs that stood for a dozen things each.
  ...['take', 'takes', 'taken', 'took', 'tell', 'tells', 'told', 'settle', 'settles', 'settled'],
];
const NOT_IN_COMMENTS = [
  /\b(?:goods|strays?|ailments?|keepers?|launchers?|attend(?:s|ed|ing)?|left-half)\b/i,
  /\bthe (?:front|door|book|turns)\b(?! of)/i,
  // A condition is *if*; *where* is a location.
  /(?:\bundefined|\bempty|\bnone|\ban error|@throws (?:DepotError )?\w+) where\b/i,
];
/** The one meaning that a verb has, and a name that another program gave. */
const MEANT: Record<string, readonly string[]> = {
  settleJob: ['src/jobs/endings.ts', 'test/words.test.ts'],
  parts: ['src/http/multipart.ts', 'test/words.test.ts'],
};

const sources = ['src', 'test', 'packaging'].flatMap(filesBelow).filter(isChecked);
const names = sources.flatMap((path) => namesIn(path).map((name) => ({ path, name })));

describe('the words of the field', () => {
  test('there are names to read', () => {
    expect(names.length).toBeGreaterThan(5000);
  });

  test('no name is made of a word that stands for several things', () => {
    const found = names
      .filter(({ name }) => wordsOf(name).some((word) => NOT_IN_NAMES.includes(word)))
      .filter(({ path, name }) => MEANT[name]?.includes(path) !== true);
    expect(found).toEqual([]);
  });

  test('no comment needs such a word', () => {
    const found = sources
      .filter((path) => path !== 'test/words.test.ts')
      .flatMap((path) =>
        commentsIn(path)
          .filter((text) => NOT_IN_COMMENTS.some((pattern) => pattern.test(text)))
          .map((text) => `${path}: ${text}`),
      );
    expect(found).toEqual([]);
  });

  test.each([
    ['takeFailure', true],
    ['PLACES', true],
    ['isSettled', true],
    ['mistake', false],
    ['placesOf', true],
    ['partial', false],
  ])('of the name %s it says %s', (name, isFound) => {
    expect(wordsOf(name).some((word) => NOT_IN_NAMES.includes(word))).toBe(isFound);
  });
});

function isChecked(path: string): boolean {
  return /\.(?:ts|js|mjs)$/.test(path);
}

/** The names that a file declares. */
function namesIn(path: string): string[] {
  const found: string[] = [];
  visit(parseSource(path), (node) => {
    const { parent } = node;
    if (ts.isIdentifier(node) && 'name' in parent && parent.name === node && declares(parent)) {
      found.push(node.text);
    }
  });
  return found;
}

/** Not what another module, or the language, named. */
function declares(node: ts.Node): boolean {
  return !ts.isPropertyAccessExpression(node) && !ts.isImportSpecifier(node);
}

/** `takeFailure`, `MOST_PARTS` and `isReported` as words in lower case. */
function wordsOf(name: string): string[] {
  return name.split(/_|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** The comments of a file, each on one line. */
function commentsIn(path: string): string[] {
  const blocks = readSource(path).matchAll(/^[ \t]*(?:\/\*\*?[\s\S]*?\*\/|(?:\/\/.*\n[ \t]*)+)/gm);
  return [...blocks].map(([text]) => text.replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ').trim());
}
