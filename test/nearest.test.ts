import { expect, test } from 'vitest';

import { nearest } from '../src/nearest.ts';

const KNOWN = ['install', 'list', 'log', 'login', 'adguardhome'];

test.each([
  ['instal', 'install'],
  ['isntall', 'install'],
  ['INSTALL', 'install'],
  ['lsit', 'list'],
  ['lig', 'log'],
  ['lojin', 'login'],
  ['adgaurdhome', 'adguardhome'],
  ['remove', undefined],
  ['a', undefined],
  ['', undefined],
])('of %j it is said that %j was meant', (word, meant) => {
  expect(nearest(word, KNOWN)).toBe(meant);
});

test('the nearest of several is chosen', () => {
  expect(nearest('logi', ['log', 'logic', 'list'])).toBe('log');
  expect(nearest('lists', ['list', 'lint'])).toBe('list');
});

test('a list of long words is gone through while somebody waits for it', () => {
  const words = Array.from({ length: 90_000 }, (_, index) => `${index}`.padEnd(120, 'x'));
  expect(nearest('y'.repeat(120), words)).toBe(undefined);
});
