import { rm, utimes, writeFile } from 'node:fs/promises';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { ApkDevice } from '../apk-device/apk-device.ts';
import { INDEX_NAME } from '../apk-device/apk-index.ts';
import { lines, mustWork, startApkDevice, startUpdatedApkDevice } from './start-apk-device.ts';

const CACHE = 'tmp/cache/apk';

test('update fetches every index whole and says how much there is', async () => {
  const device = await startApkDevice();

  for (const requests of [1, 2]) {
    expect(await device.apk('update')).toEqual({
      code: 0,
      stdout: `${lines(` [${device.feed.url}/${INDEX_NAME}]`)}OK: 66 distinct packages available\n`,
      stderr: '',
    });
    expect(device.feed.requests(INDEX_NAME)).toBe(requests);
  }
  expect(await readdir(join(device.root, CACHE))).toEqual([
    expect.stringMatching(/^APKINDEX\.[0-9a-f]{8}\.tar\.gz$/),
  ]);
});

const FAULTS = [
  ['missing', 'unexpected end of file', 'ERROR: wget: exited with error 8\n'],
  ['html', 'file format is invalid or inconsistent', ''],
  ['truncated', 'unexpected end of file', ''],
  ['cut', 'unexpected end of file', 'ERROR: wget: exited with error 4\n'],
] as const;

test.each(FAULTS)(
  'an index that is %s leaves the good old copy in use',
  async (fault, reason, before) => {
    const device = await startUpdatedApkDevice();
    device.feed.misbehave(INDEX_NAME, fault);

    const update = await device.apk('update');

    expect(update).toEqual({
      code: 1,
      stdout: `${lines(` [${device.feed.url}/${INDEX_NAME}]`)}0 unavailable, 1 stale; 66 distinct packages available\n`,
      stderr: `${before}WARNING: updating ${device.feed.url}/${INDEX_NAME}: ${reason}\n`,
    });
    await mustWork(device, 'add', 'virt');
  },
);

test.each(FAULTS)(
  'an index that is %s and has no copy is unavailable',
  async (fault, reason, before) => {
    const device = await startApkDevice();
    device.feed.misbehave(INDEX_NAME, fault);

    const update = await device.apk('update');

    expect(update).toEqual({
      code: 1,
      stdout: '1 unavailable, 0 stale; 3 distinct packages available\n',
      stderr: `${before}WARNING: updating and opening ${device.feed.url}/${INDEX_NAME}: ${reason}\n`,
    });
  },
);

test.each(['other', 'nobody'] as const)(
  'an index that is signed by %s is not taken',
  async (signer) => {
    const device = await startUpdatedApkDevice();
    device.publish(2, signer);

    const update = await device.apk('update');

    expect(update.code).toBe(1);
    expect(update.stderr).toMatch(/: (?:UNTRUSTED|BAD) signature\n$/);
    expect(await mustWork(device, 'list', 'libdemo')).toContain('libdemo-1.0-r1 ');
  },
);

test('with --allow-untrusted an unsigned one is taken, and counts only for such calls', async () => {
  const device = await startApkDevice();
  device.publish(1, 'nobody');

  expect((await device.apk('update', '--allow-untrusted')).code).toBe(0);

  expect((await device.apk('list', 'virt')).stdout).toBe('');
  expect(await mustWork(device, 'list', '--allow-untrusted', 'virt')).toContain('virt-1.0-r1 ');
});

test('of two feeds the one that is dead is counted, and the other works', async () => {
  const device = await startApkDevice();
  await addFeeds(device, `${device.feed.url}/nowhere/packages.adb`);

  const update = await device.apk('update');

  expect(update.code).toBe(1);
  expect(update.stdout).toContain('\n1 unavailable, 0 stale; 66 distinct packages available\n');
  expect((await device.apk('add', 'virt')).code).toBe(0);
});

test('a word in a list of feeds that apk does not know is told with file and line', async () => {
  const device = await startApkDevice();
  await addFeeds(device, '# a comment', 'bogus line here');

  expect(await device.apk('update')).toMatchObject({
    code: 0,
    stderr: 'WARNING: customfeeds.list:2: unrecogized keyword: bogus\n',
  });
});

test('a feed that refuses connections is exit code 4 of wget', async () => {
  const device = await startUpdatedApkDevice();
  await device.feed.refuse();

  const update = await device.apk('update');

  expect(update.code).toBe(1);
  expect(update.stderr).toContain('ERROR: wget: exited with error 4\n');
});

test('after a boot, only commands that write fetch an index; del fetches none', async () => {
  const device = await startUpdatedApkDevice();
  const warning = `WARNING: opening from cache ${device.feed.url}/${INDEX_NAME}: No such file or directory\n`;
  await rm(join(device.root, CACHE), { recursive: true });

  for (const words of [
    ['list', 'virt'],
    ['query', '--format', 'json', '--available', '*'],
    ['del', 'busybox', '-s'],
  ]) {
    expect(await device.apk(...words)).toMatchObject({ code: 0, stderr: warning });
  }
  expect(await device.apk('add', '-s', 'virt')).toMatchObject({ code: 1, stdout: '' });
  expect((await device.apk('upgrade', '-s')).code).toBe(99);
  expect(device.feed.requests(INDEX_NAME)).toBe(1);

  await mustWork(device, 'add', 'virt');
  expect(device.feed.requests(INDEX_NAME)).toBe(2);
});

test.each([
  [['add', 'virt'], 2],
  [['fix'], 2],
  [['upgrade'], 2],
  [['del', 'libonce'], 1],
  [['add', '--cache-max-age', '600', 'virt'], 1],
  [['list', 'virt'], 1],
  [['add', '-s', 'virt'], 1],
])('with a copy of five hours, %j makes %i requests in all', async (words, requests) => {
  const device = await startUpdatedApkDevice();
  const old = new Date(Date.now() - 5 * 3_600_000);
  for (const name of await readdir(join(device.root, CACHE))) {
    await utimes(join(device.root, CACHE, name), old, old);
  }

  await mustWork(device, ...words);

  expect(device.feed.requests(INDEX_NAME)).toBe(requests);
});

test('--no-network takes nothing from feeds, and asks none', async () => {
  const device = await startUpdatedApkDevice();

  const add = await device.apk('--no-network', 'add', 'virt');

  expect(add.code).toBe(1);
  expect(add.stderr).toContain('  virt-1.0-r1:\n    masked in: --no-network\n');
  expect(device.feed.requests()).toBe(1);
});

async function addFeeds(device: ApkDevice, ...entries: readonly string[]): Promise<void> {
  const path = join(device.root, 'etc/apk/repositories.d/customfeeds.list');
  await writeFile(path, lines(...entries));
}
