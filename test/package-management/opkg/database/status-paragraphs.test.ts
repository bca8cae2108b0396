import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { endsWell } from '../../../../src/package-management/opkg/database/status-file.ts';
import { editStatus } from '../../../../src/package-management/opkg/database/status-file.ts';

const WHOLE =
  'Package: a\nVersion: 0\nStatus: install ok installed\n\nPackage: b\nVersion: 1\nStatus: install ok installed\n\n';

async function statusFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-paragraphs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'status');
}

const raise = (paragraph: string): string => paragraph.replace('Version: 0', 'Version: 9');

test.each([
  ['as opkg ends it', WHOLE, true],
  ['broken off', WHOLE.trimEnd(), false],
])('a status file %s is so when it was edited', async (_, text, isWhole) => {
  const file = await statusFile();
  await writeFile(file, text);

  await editStatus(file, raise);

  const edited = await readFile(file, 'utf8');
  expect(edited).toBe(raise(text));
  expect(endsWell(edited)).toBe(isWhole);
});

test('a status file that cannot be read is not taken for an empty one', async () => {
  const file = await statusFile();
  await editStatus(file, raise);
  await mkdir(file);

  await expect(editStatus(file, raise)).rejects.toMatchObject({ code: 'EISDIR' });
});
