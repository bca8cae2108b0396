import ts from 'typescript';
import { expect, test } from 'vitest';

import { LANGUAGES, type Texts } from '../../src/languages/languages.ts';
import { filesBelow, parseSource, readSource, visit } from '../source-tree.ts';
import { patternOf } from './sentence-pattern.ts';

/** What a program of the forge, or of a fleet's operator, reads, and who starts the daemon. */
const OF_OTHERS = /^src\/(?:cli|config|device|features\/(?:forge|fleet\/rollout)|main|start)\b/;

/** The message of each failure that the daemon names; values are `{}`. */
const messages = filesBelow('src')
  .filter((path) => path.endsWith('.ts') && !OF_OTHERS.test(path))
  .flatMap((path) => {
    const found: string[] = [];
    visit(parseSource(path), (node) => {
      if (!ts.isNewExpression(node) || node.expression.getText() !== 'DepotError') return;
      const text = node.arguments?.[1] && patternOf(node.arguments[1]);
      if (text?.startsWith('cannot ')) found.push(text);
    });
    return found;
  });

test.each(LANGUAGES.map(({ code }) => code))('in %s each refusal has its sentence', (code) => {
  const { sentences } = JSON.parse(readSource(`src/languages/${code}.json`)) as Texts;
  const known = new Set(Object.keys(sentences).map((text) => text.replaceAll(/\{\w+\}/g, '{}')));

  expect(messages.length).toBeGreaterThan(100);
  expect([...new Set(messages)].filter((text) => !known.has(text))).toEqual([]);
});
