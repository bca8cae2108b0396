import ts from 'typescript';
import { expect, test } from 'vitest';

import { LANGUAGES, type Texts } from '../../src/languages/languages.ts';
import { filesBelow, parseSource, readSource, visit } from '../source-tree.ts';
import { patternOf } from './sentence-pattern.ts';

/** What a program of the forge reads, who starts the daemon, and who writes against it. */
const OF_OTHERS = /^src\/(?:cli|config|device|features\/forge|http\/openapi|main|start)\b/;
/** What makes a whole one of a reason. */
const OF_REASON = /^(?:bad|refused)$/;

/** The message of each failure that the daemon names; values are `{}`. */
const messages = filesBelow('src')
  .filter((path) => path.endsWith('.ts') && !OF_OTHERS.test(path))
  .flatMap((path) => {
    const found: string[] = [];
    visit(parseSource(path), (node) => {
      if (ts.isCallExpression(node) && OF_REASON.test(node.expression.getText())) {
        const texts = node.arguments.flatMap((each) => patternOf(each) ?? []);
        found.push(...texts.filter((text) => text.includes(' ')));
      }
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
