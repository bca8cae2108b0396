import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { keptFiles } from '../../../src/features/backup/kept-files.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LONG = 'a'.repeat(100);

test.each([
  ['*', ['a.b', LONG, 'ab1ab', 'x*', 'x-', 'x1', '\u00fc']],
  ['*ab', ['ab1ab']],
  ['a*b*', ['a.b', 'ab1ab']],
  ['x[0-9]', ['x1']],
  ['x[!0-9]', ['x*', 'x-']],
  ['?[.]?', ['a.b']],
  ['[z-a]*', []],
  [`${'*a'.repeat(14)}b`, []],
  ['[', []],
  ['x[*]', ['x*']],
  ['x[]*]', ['x*']],
  ['\u00fc', ['\u00fc']],
  ['[\u00fc]', ['\u00fc']],
])('of files in a folder %s means what it means to a shell', async (pattern, meant) => {
  expect(await filesMeantBy(pattern)).toEqual(meant.map((name) => `/etc/own/${name}`).sort());
});

test('a pattern that is longer than any name means no file', async () => {
  expect(await filesMeantBy('?'.repeat(100_000))).toEqual([]);
});

async function filesMeantBy(pattern: string): Promise<string[]> {
  const root = await temporaryFolder();
  const onDevice = (path: string): string => join(root, path);
  for (const folder of ['etc/own', 'lib/upgrade/keep.d']) {
    await mkdir(onDevice(folder), { recursive: true });
  }
  for (const name of ['a.b', LONG, 'ab1ab', 'x*', 'x-', 'x1', '\u00fc']) {
    await writeFile(onDevice(`etc/own/${name}`), '');
  }
  await writeFile(onDevice('lib/upgrade/keep.d/own'), `/etc/own/${pattern}\n`);
  return keptFiles({ onDevice } as never);
}
