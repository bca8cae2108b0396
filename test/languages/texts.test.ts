import { extname, join } from 'node:path';

import ts from 'typescript';
import { describe, expect, test } from 'vitest';

import { ADVICE, PROBLEM_CODES } from '../../src/package-management/problem.ts';
import { CONSEQUENCES } from '../../src/package-management/system-packages.ts';
import { COMMAND_NAMES, commandText } from '../../src/cli/usage/commands.ts';
import { NOTES } from '../../src/cli/usage/help.ts';
import { COMMON_OPTIONS, OWN_OPTIONS, type OptionText } from '../../src/cli/usage/options.ts';
import { LANGUAGES, type Texts } from '../../src/languages/languages.ts';
import { markupOf } from '../../packaging/page-files.mjs';
import { filesBelow, parseSource, readSource, REPOSITORY, visit } from '../source-tree.ts';
import { patternOf } from './sentence-pattern.ts';

const sources = filesBelow('src/panel').filter((path) => extname(path) === '.js');
const daemonSources = filesBelow('src').filter((path) => extname(path) === '.ts');
const markup = markupOf(join(REPOSITORY, 'src/panel/index.html')).replaceAll(
  /<(style|script|svg|noscript)\b[^]*?<\/\1>/g,
  '',
);

/** The first arguments of all calls of `t`. */
const textsOfScripts = [...sources, 'src/panel/login-page.ts'].flatMap((path) => {
  const found: string[] = [];
  visit(parseSource(path), (node) => {
    if (!isCallOfT(node) || path.endsWith('/i18n.js')) return;
    const text = literalText(node.arguments[0]);
    if (text === undefined) throw new Error(`cannot read ${node.getText()} in ${path}`);
    found.push(text);
  });
  return found;
});

/** What people read, or hear read out. */
const textsOfMarkup = [
  ...markup.split(/<[^>]*>/).map((text) => text.trim().replace(/\s+/g, ' ')),
  ...[...markup.matchAll(/\b(?:aria-label|placeholder|title)="([^"]*)"/g)].map(
    ([, text = '']) => text,
  ),
].filter((text) => /[A-Za-z]{2}/.test(text) && !isSameEverywhere(text));

const texts = [...new Set([...textsOfScripts, ...textsOfMarkup])];

/** Of a line of advice. */
const LEAD = /^ *\u2192 /;

/** What the sources of the daemon can say: values are `{}`. */
const said = new Set(
  daemonSources
    .flatMap(stringsOf)
    .flatMap((text) => [text, text.replace(LEAD, ''), withoutEnds(text)]),
);

test('what the page says is found', () => {
  expect(textsOfScripts.length).toBeGreaterThan(80);
  expect(textsOfMarkup.length).toBeGreaterThan(30);
  expect(said.size).toBeGreaterThan(1000);
});

describe.each(LANGUAGES.map(({ code }) => code))('in %s', (code) => {
  const language = JSON.parse(readSource(`src/languages/${code}.json`)) as Texts;

  test('each text of the page is there', () => {
    expect(texts.filter((text) => (language.page[text] ?? text) === text)).toEqual([]);
  });

  test('there is no text that the page does not say', () => {
    expect(Object.keys(language.page).filter((text) => !texts.includes(text))).toEqual([]);
  });

  test('to undo a task and to restore a backup are two words', () => {
    const { Undo: undo = '', Restore: restore = '' } = language.page;
    expect(undo).not.toBe(restore);
    expect(language.page['Restore a backup']).toContain(restore);
  });

  test('the steps that have a name are steps of tasks', () => {
    expect(Object.keys(language.steps).filter((label) => !said.has(label))).toEqual([]);
  });

  test('what the daemon advises, and what it says stops, is there', () => {
    const advice = [...Object.values(ADVICE), ...Object.values(CONSEQUENCES)];
    expect(advice.filter((sentence) => !(sentence in language.sentences))).toEqual([]);
  });

  test('what the checks of the device say is there', () => {
    const patterns = new Set(Object.keys(language.sentences).flatMap(sourcesOf));
    const unknown = saidByChecks().filter((text) => !patterns.has(text));
    // A line of a file, whoever reads it.
    expect(unknown).toEqual(['{}:{} ({}): {}']);
  });

  test('each word of the help of the command line is there', () => {
    const known = { ...language.sentences, ...language.command, ...language.words };
    expect(helpTexts().filter((text) => !matches(text, Object.keys(known)))).toEqual([]);
  });

  test('what the command line says is there', () => {
    const known = [language.sentences, language.command, language.words].flatMap(Object.keys);
    const patterns = known.flatMap(sourcesOf);
    expect(saidByCommands().filter((text) => !patterns.some((one) => one === text))).toEqual([]);
  });

  test('there is no sentence that the daemon or the command line does not say', () => {
    const { sentences, command, words } = language;
    const unsaid = [sentences, command, words]
      .flatMap(Object.keys)
      .filter((sentence) => !sourcesOf(sentence).some((source) => said.has(source)));
    expect(unsaid).toEqual([]);
  });

  test('each problem that the daemon knows has a remedy', () => {
    expect(Object.keys(language.remedies).sort()).toEqual([...PROBLEM_CODES].sort());
  });

  test('what is filled in is named as it is in English', () => {
    for (const [text, translation] of Object.entries({
      ...language.page,
      ...language.sentences,
      ...language.command,
    })) {
      expect(namesIn(translation), text).toEqual(namesIn(text));
    }
  });
});

test('each language has the same texts', () => {
  const keysOf = (code: string): string[] => {
    const { name, tags, ...sections } = JSON.parse(readSource(`src/languages/${code}.json`)) as {
      name: string;
      tags: string;
    } & Record<string, object>;
    expect([name, tags]).not.toContain('');
    return Object.entries(sections).flatMap(([section, keys]) =>
      Object.keys(keys).map((text) => `${section}: ${text}`),
    );
  };
  const [first = [], ...others] = LANGUAGES.map(({ code }) => keysOf(code).sort());
  for (const keys of others) expect(keys).toEqual(first);
});

test('each check of the device has a name on the page', () => {
  const sourcesOfChecks = filesBelow('src').filter((path) => path.includes('/checks'));
  const ids = sourcesOfChecks.flatMap((path) =>
    [...readSource(path).matchAll(/\bid: '([a-z-]+)'/g)].map(([, id = '']) => id),
  );
  expect(ids.length).toBeGreaterThan(10);
  const names = readSource('src/panel/views/device/doctor.js');
  expect(ids.filter((id) => !new RegExp(`^  '?${id}'?: \\(\\) => t\\(`, 'm').test(names))).toEqual(
    [],
  );
});

test('no text for people stands in a script beside t()', () => {
  const untranslated = sources.flatMap((path) => {
    const found: string[] = [];
    visit(parseSource(path), (node) => {
      if (isReadByPeople(node) && !isBelowT(node)) found.push(`${path}: ${node.getText()}`);
    });
    return found;
  });
  expect(untranslated).toEqual([]);
});

/** Of the tables that help is made of. */
function helpTexts(): string[] {
  const commands = COMMAND_NAMES.map(commandText);
  const options: OptionText[] = [...Object.values(OWN_OPTIONS), ...Object.values(COMMON_OPTIONS)];
  return [
    ...commands.flatMap(({ meaning, about = [] }) => [meaning, ...about]),
    ...options.map(({ meaning }) => meaning),
    ...NOTES,
  ];
}

/** Findings and advice that are one text. */
function saidByChecks(): string[] {
  const paths = filesBelow('src/features').filter((path) => /\/checks(?:\.ts$|\/)/.test(path));
  return paths.flatMap((path) => {
    const found: (string | undefined)[] = [];
    visit(parseSource(path), (node) => {
      if (!ts.isPropertyAssignment(node) || !/^(?:message|remedy)$/.test(node.name.getText())) {
        return;
      }
      const { initializer } = node;
      const either = ts.isConditionalExpression(initializer)
        ? [initializer.whenTrue, initializer.whenFalse]
        : [initializer];
      found.push(...either.map(patternOf));
    });
    return found.filter((text) => text !== undefined);
  });
}

function matches(text: string, known: readonly string[]): boolean {
  return known.some((each) => {
    const pieces = each
      .split(/\{\w+\}/)
      .map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${pieces.join('.+')}$`).test(text);
  });
}

/** Whole sentences that commands say, and headings of their tables. */
function saidByCommands(): string[] {
  return filesBelow('src/cli/commands').flatMap((path) => {
    const found: string[] = [];
    visit(parseSource(path), (node) => {
      if (ts.isPropertyAssignment(node)) found.push(...saidOfRows(node));
      if (!ts.isCallExpression(node)) return;
      const [first] = node.arguments;
      if (first === undefined) return;
      const called = node.expression.getText();
      if (/(?:^|\.)(?:say|word)$/.test(called)) found.push(...[patternOf(first) ?? []].flat());
      if (called === 'formatTable' && ts.isArrayLiteralExpression(first)) {
        found.push(...first.elements.flatMap((each) => patternOf(each) ?? []));
      }
    });
    return found
      .map((text) => text.replace(LEAD, ''))
      .filter((text) => /[A-Za-z]{2}/.test(text.replace(/\{\}/g, '')));
  });
}

/** What `printRows` gets: `headings: […]` and `none: '…'`. */
function saidOfRows({ name, initializer }: ts.PropertyAssignment): string[] {
  if (name.getText() === 'none') return [patternOf(initializer) ?? []].flat();
  return name.getText() === 'headings' && ts.isArrayLiteralExpression(initializer)
    ? initializer.elements.flatMap((each) => patternOf(each) ?? [])
    : [];
}

function isCallOfT(node: ts.Node): node is ts.CallExpression {
  return ts.isCallExpression(node) && node.expression.getText() === 't';
}

/** @returns undefined for what is known only when the page runs */
function literalText(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isBinaryExpression(node)) return undefined;
  const [left, right] = [literalText(node.left), literalText(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** Literals, also those that are put together of several. */
function stringsOf(path: string): string[] {
  const found: string[] = [];
  visit(parseSource(path), (node) => {
    const text = patternOf(node);
    if (text !== undefined) found.push(text);
  });
  return found;
}

/** What stands in the sources for a sentence: the name of a package comes once (nameOnce). */
function sourcesOf(sentence: string): string[] {
  const pattern = sentence.replaceAll(/\{\w+\}/g, '{}');
  return [pattern, pattern.replace(/^its (script|file)\b/, 'the $1 of {}'), withoutEnds(pattern)];
}

/** What stands at its ends may be said elsewhere in the sources. */
function withoutEnds(pattern: string): string {
  return pattern.replace(/^\{\}|\{\}$/g, '');
}

/** A word with a capital letter at its head, or three words. */
function isReadByPeople(node: ts.Node): boolean {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateHead(node)) return false;
  return /^[A-Z][a-z]+\b(?!-)|[a-z]+ [a-z]+ [a-z]+/.test(node.text);
}

function isBelowT(node: ts.Node): boolean {
  if (isCallOfT(node)) return true;
  return !ts.isSourceFile(node) && isBelowT(node.parent);
}

/** Paths, and the name of the program. */
function isSameEverywhere(text: string): boolean {
  return /^\/\S+$|^depotd$|^https:\/\/$/.test(text);
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();
}
