import { mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { fileVersion, fileVersionSync } from '../../src/device/file-version.ts';

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-version-'));
  file = join(folder, 'file');
  await writeFile(file, 'one');
});
afterAll(() => rm(folder, { recursive: true }));

test('a file that nobody touches keeps its version, and both ways to ask agree', async () => {
  const version = await fileVersion(file);

  expect(version).toBeDefined();
  expect(await fileVersion(file)).toBe(version);
  expect(fileVersionSync(file)).toBe(version);
});

test('a file of the same size and time that takes the place of another is another version', async () => {
  const time = new Date(1_000_000);
  await utimes(file, time, time);
  const before = await fileVersion(file);
  await writeFile(`${file}.new`, 'two');
  await utimes(`${file}.new`, time, time);

  await rename(`${file}.new`, file);

  expect(await fileVersion(file)).not.toBe(before);
});

test('what is written and dated back is another version', async () => {
  const time = new Date(1_000_000);
  const before = await fileVersion(file);

  await writeFile(file, 'six');
  await utimes(file, time, time);

  expect(await fileVersion(file)).not.toBe(before);
});

test.each(['nowhere', '.'])('%s has no version, for it is no file', async (name) => {
  expect(await fileVersion(join(folder, name))).toBeUndefined();
  expect(fileVersionSync(join(folder, name))).toBeUndefined();
});
