import { beforeEach, expect, test } from 'vitest';

import type { Texts } from '../../src/languages/languages.ts';
import { PROBLEM_CODES } from '../../src/package-management/problem.ts';
import { headingOf, remedyOf } from '../../src/panel/problems.js';
import { stepName, t, useTexts } from '../../src/panel/i18n.js';
import { readSource } from '../source-tree.ts';

beforeEach(() => {
  useTexts(JSON.parse(readSource('src/languages/zh-CN.json')) as Texts);
  return () => {
    useTexts();
  };
});

test('a text without a translation stays English, and so does the name of a step', () => {
  expect(t('No such text, {name}', { name: 'demo' })).toBe('No such text, demo');
  expect(stepName('no such step')).toBe('no such step');
  expect(stepName('constructor')).toBe('constructor');
});

test('values are filled in as they are, whatever they contain', () => {
  expect(t('Remove {app}?', { app: '$& {app}' })).toBe('卸载 $& {app}？');
  expect(t('Page {page} of {pages}', { page: 1, pages: 2 })).toBe('第 1 页，共 2 页');
});

test('a value that is missing leaves its name, in place of the word undefined', () => {
  expect(t('Remove {app}?')).toBe('卸载 {app}？');
});

test('without texts of a language the text is the one in the source', () => {
  useTexts();
  expect(t('Remove {app}?', { app: 'Demo' })).toBe('Remove Demo?');
  expect(stepName('install')).toBe('install');
});

test.each(['zh-CN', 'zh-TW'])('in %s each problem has its words, and no English ones', (code) => {
  useTexts(JSON.parse(readSource(`src/languages/${code}.json`)) as Texts);
  for (const problem of PROBLEM_CODES) {
    const said = [headingOf(problem), remedyOf({ code: problem })];
    expect([problem, said.filter((text) => /[a-z]{2,} [a-z]{2,}/.test(text))]).toEqual([
      problem,
      [],
    ]);
    expect(said[1]).toMatch(/\p{Script=Han}/u);
  }
});
