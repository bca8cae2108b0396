import { lstat, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

import { createPaths } from '../../../../src/device/paths.ts';
import { loadConfig } from '../../../../src/config/config.ts';
import { createLocations } from '../../../../src/package-management/apk/database/apk-locations.ts';
import { createTransactionRecords } from '../../../../src/package-management/apk/recovery/transaction-record.ts';

let own: string;
let records: ReturnType<typeof createTransactionRecords>;
beforeEach(async () => {
  own = await mkdtemp(join(tmpdir(), 'depotd-record-'));
  onTestFinished(() => rm(own, { recursive: true }));
  const config = loadConfig({ file: '/dev/null', overrides: [] });
  records = createTransactionRecords({ ...createLocations(createPaths(config)), own });
});
const entry = (jobId: string, ...names: string[]) => ({
  ...{ jobId, verb: 'install' as const, names, changes: [], created: {} },
  ...{ kept: [], absent: [], folders: [] },
});

test('what 0.1.0 was about to do is read, though it says less', async () => {
  const record = { jobId: '1', verb: 'install', names: ['hello'], changes: [], created: {} };

  await writeFile(join(own, 'transaction.json'), JSON.stringify(record));

  expect(await records.read('1')).toEqual(entry('1', 'hello'));
});

test('a shorter one is written over a longer one, in the same file', async () => {
  const file = join(own, 'transaction.json');
  await records.write(entry('1', 'one', 'two', 'three'));
  const { ino, size } = await stat(file);
  await records.removeLarge();
  await records.write(entry('2', 'one'));

  expect(await stat(file)).toMatchObject({ ino, size });
  expect([await records.read('1'), await records.read('2')]).toEqual([
    undefined,
    entry('2', 'one'),
  ]);
});

test('a long one does not stay', async () => {
  await records.write(entry('1', ...Array<string>(4000).fill('name')));
  expect((await records.read('1'))?.names).toHaveLength(4000);

  await records.removeLarge();

  expect(await records.read('1')).toBeUndefined();
});

test('what stands in its place is replaced, as a link is, which is not followed', async () => {
  const file = join(own, 'transaction.json');
  await symlink(join(own, 'elsewhere'), file);

  await records.write(entry('1', 'one'));

  expect((await lstat(file)).isFile()).toBe(true);
  expect(await records.read('1')).toEqual(entry('1', 'one'));
});
