import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  formatWorld,
  isPin,
  namesIn,
  parseWorld,
  readWorld,
} from '../../../../src/package-management/apk/database/world.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-world-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('world says what is wanted, pinned and kept away', () => {
  const text = 'base-files\nlibdemo=1.0-r1\nlocal><Q1Z1iwHJn9cx01Fph0Dq9t4PY25qE=\n!virt-b\n';
  const { entries } = parseWorld(text, 'world');

  expect(entries.map((entry) => [entry.name, isPin(entry), entry.isConflict])).toEqual([
    ['base-files', false, false],
    ['libdemo', true, false],
    ['local', true, false],
    ['virt-b', false, true],
  ]);
  expect(formatWorld(entries)).toBe(text);
});

test.each([
  ['a@edge', 'a'],
  ['a>=1.0', 'a'],
  ['a<2', 'a'],
  ['a~1.2', 'a'],
  ['libubox20251103', 'libubox20251103'],
  ['libabi1.0=1.0-r1', 'libabi1.0'],
  ['kernel=6.12.87~abcdef-r1', 'kernel'],
  ['.up-1=20261122.091034', '.up-1'],
])('%s asks for %s', (text, name) => {
  expect(parseWorld(text, 'world').entries[0]?.name).toBe(name);
});

test.each([
  ['a=1.0-r1', true],
  ['a==1.0-r1', true],
  ['a><Q1Z1iwHJn9cx01Fph0Dq9t4PY25qE=', true],
  ['a~1.0', true],
  ['a~=1.0', true],
  ['a=~1.0', true],
  ['a<2', true],
  ['a<=2', true],
  ['a<~2', true],
  ['a>=1', false],
  ['a>1', false],
  ['a>~1', false],
  ['a@edge', false],
  ['!a=1.0', false],
  ['a', false],
])('whether %s holds a package: %s', (text, isHolding) => {
  expect(parseWorld(text, 'world').entries.map(isPin)).toEqual([isHolding]);
});

test('of a list of dependencies conflicts are no part', () => {
  expect(namesIn('libc !enemy so:x>=1 a~2')).toEqual(['libc', 'so:x', 'a']);
});

test.each([
  ['garbage', 'base-files\n<<<\n', /line 2: "<<<" is no dependency/],
  ['a version that is none', 'libc\na=v1\n', /line 2: "a=v1" is no dependency/],
  ['a tag behind a version', 'libc\na=1.0@edge\n', /line 2: "a=1.0@edge" is no dependency/],
  ['an empty one', '', /it is empty/],
  ['blanks', ' \n\n', /it is empty/],
  ['zeros', '\0\0\0', /it is empty|is no dependency/],
])('%s is refused', async (_, text, message) => {
  const file = join(folder, 'world');
  await writeFile(file, text);

  await expect(readWorld(file)).rejects.toThrow(message);
});

test('a world that is gone is refused', async () => {
  await expect(readWorld(join(folder, 'absent'))).rejects.toThrow(/it is gone/);
});
