import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { createLocations } from '../../../../src/package-management/apk/database/locations.ts';
import { createBeforeCopy } from '../../../../src/package-management/apk/recovery/before-copy.ts';

let root: string;
let files: ReturnType<typeof createLocations>;
const inCopy = (name: string): string => join(files.own, 'before', name);

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'depotd-before-'));
  const onDevice = (path: string): string => join(root, path);
  files = createLocations({ onDevice, stateDir: join(root, 'state') } as never);
  for (const folder of [files.database, files.configuration, join(files.own, 'before')]) {
    await mkdir(folder, { recursive: true });
  }
});
afterEach(() => rm(root, { recursive: true }));

/** Replaces a file as apk does, whether it changes or not. */
async function put(file: string, text: string): Promise<void> {
  await writeFile(`${file}.tmp`, text);
  await rename(`${file}.tmp`, file);
}

test('what apk writes anew without a change is not copied again', async () => {
  const { save } = createBeforeCopy(files);
  await put(files.world, 'demo\n');
  await put(files.installed, 'P:demo\nV:1\n\n');
  await put(files.scripts, 'scripts');
  await save();
  const inodes = async (): Promise<number[]> =>
    Promise.all(
      ['world', 'installed.gz', 'scripts.tar.gz'].map(
        async (name) => (await stat(inCopy(name))).ino,
      ),
    );
  const before = await inodes();

  await put(files.world, 'demo\nmore\n');
  await put(files.installed, 'P:demo\nV:1\n\n');
  await put(files.scripts, 'scripts');
  await save();

  const after = await inodes();
  expect(after[0]).not.toBe(before[0]);
  expect(after.slice(1)).toEqual(before.slice(1));
  expect(await readFile(inCopy('world'), 'utf8')).toBe('demo\nmore\n');
});

test('a copy whose record is lost is made anew, whatever is in it', async () => {
  const { save } = createBeforeCopy(files);
  await put(files.world, 'demo\n');
  await save();
  const { ino } = await stat(inCopy('world'));
  await rm(inCopy('versions.json'));

  await save();

  expect((await stat(inCopy('world'))).ino).not.toBe(ino);
});
