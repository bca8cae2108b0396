import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { createLocations } from '../../../../src/package-management/apk/database/apk-locations.ts';
import { createRecordCopy } from '../../../../src/package-management/apk/recovery/record-copy.ts';
import { runCommand } from '../../../device/command.ts';
import { putAnew } from '../put-anew.ts';

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

const inodeOf = async (file: string): Promise<number> => (await stat(file)).ino;
const textsOf = (...names: string[]): Promise<string[]> =>
  Promise.all(names.map((name) => readFile(inCopy(name), 'utf8')));

async function putAll(text: string): Promise<void> {
  for (const file of [files.world, files.installed, files.scripts]) await putAnew(file, text);
}

test('record and scripts are kept as they were without being written again', async () => {
  const { save } = createRecordCopy(files);
  await putAll('before\n');
  await save();

  expect(await inodeOf(inCopy('installed'))).toBe(await inodeOf(files.installed));
  expect(await inodeOf(inCopy('scripts.tar.gz'))).toBe(await inodeOf(files.scripts));
  await putAll('after\n');
  const copies = ['installed', 'scripts.tar.gz', 'world'];
  expect(await textsOf(...copies)).toEqual(['before\n', 'before\n', 'before\n']);

  await save();
  expect(await textsOf(...copies)).toEqual(['after\n', 'after\n', 'after\n']);
  expect((await readdir(join(files.own, 'before'))).sort()).toEqual(copies.sort());
});

const AWKWARD: Record<string, (file: string) => Promise<unknown>> = {
  'a fifo': (file) => runCommand(['mkfifo', file]),
  'a link to a device without an end': (file) => symlink('/dev/zero', file),
};
test.each(
  Object.entries(AWKWARD).flatMap(([kind, put]) =>
    (['world', 'installed', 'triggers'] as const).map((name) => ({ kind, put, name })),
  ),
)('$kind in the place of $name is not waited for, and copied nowhere', async ({ put, name }) => {
  const { save } = createRecordCopy(files);
  await putAll('before\n');
  await save();
  await rm(files[name], { force: true });
  await put(files[name]);

  await expect(save()).rejects.toThrow(/^cannot read .*: it is no file$/);

  expect(await readdir(join(files.own, 'before'))).toEqual([
    'installed',
    'scripts.tar.gz',
    'world',
  ]);
  expect(await textsOf('installed', 'scripts.tar.gz', 'world')).toEqual([
    'before\n',
    'before\n',
    'before\n',
  ]);
});

test('world is a copy, since its owner edits it in its place', async () => {
  const { save } = createRecordCopy(files);
  await putAll('before\n');
  await save();

  await writeFile(files.world, '');

  expect(await textsOf('world')).toEqual(['before\n']);
});

test('what apk writes anew without a change is not copied again', async () => {
  const { save } = createRecordCopy(files);
  await putAll('same\n');
  await save();
  const before = await inodeOf(inCopy('world'));

  await putAll('same\n');
  await save();

  expect(await inodeOf(inCopy('world'))).toBe(before);
});

test('scripts that are no longer packed are kept under their name alone', async () => {
  await putAll('packed');
  await createRecordCopy(files).save();
  await putAnew(files.plainScripts, 'plain');

  // Another depotd may have left its own, and half of something.
  for (const name of ['installed.gz', 'versions.json', 'installed.new']) {
    await writeFile(inCopy(name), '');
  }
  await putAll('other');
  await createRecordCopy(files).save();

  const there = (await readdir(join(files.own, 'before'))).sort();
  expect(there).toEqual(['installed', 'scripts.tar', 'world']);
  expect(await textsOf(...there)).toEqual(['other', 'plain', 'other']);
});
