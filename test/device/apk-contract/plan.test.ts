import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { ApkDevice } from '../apk-device/apk-device.ts';
import { lines, mustWork, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

async function query(device: ApkDevice, ...words: readonly string[]): Promise<unknown> {
  return JSON.parse((await device.apk('query', '--format', 'json', ...words)).stdout);
}

test('-s prints what would be done and does nothing', async () => {
  const device = await startUpdatedApkDevice();
  const log = await device.read('tmp/log/apk.log');

  expect(await mustWork(device, 'add', '-s', 'app-meta-demo')).toBe(
    lines(
      '(1/3) Installing libdemo (1.0-r1)',
      '(2/3) Installing demo-app (1.0-r1)',
      '(3/3) Installing app-meta-demo (1.0-r1)',
      'OK: 1831 B in 6 packages',
    ),
  );

  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  expect(await device.read('tmp/log/apk.log')).toBe(log);
});

test('with --verbose twice the plan has the sizes', async () => {
  const device = await startUpdatedApkDevice();

  const stdout = await mustWork(device, '-v', '-v', 'add', '-s', 'demo-app');

  expect(stdout).toMatch(
    /^The following NEW packages will be installed:\n {2}demo-app \(1\.0-r1\)\n {2}libdemo \(1\.0-r1\)\nNeed to download \d+ B of packages\.\nAfter this operation, 444 B of additional disk space will be used\.\n\(1\/2\) /,
  );
});

test('what would go is listed in the plan of a removal', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo');

  expect(await mustWork(device, 'del', '-s', 'app-meta-demo')).toBe(
    lines(
      '(1/3) Purging app-meta-demo (1.0-r1)',
      '(2/3) Purging demo-app (1.0-r1)',
      '(3/3) Purging libdemo (1.0-r1)',
      'OK: 467 B in 3 packages',
    ),
  );
});

test('query tells what would be there, in bytes; with status, 1 if not all of it is', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'libdemo');
  const words = [
    '--recursive',
    '--world',
    '--fields',
    'name,version,status,file-size,installed-size',
    'demo-app',
  ];

  const answer = await query(device, ...words);

  expect(answer).toMatchObject([
    { name: 'base-files' },
    { name: 'busybox' },
    { name: 'demo-app', version: '1.0-r1', 'installed-size': 408 },
    { name: 'libc' },
    { name: 'libdemo', version: '1.0-r1', 'installed-size': 36, status: ['installed'] },
  ]);
  expect(JSON.stringify(answer)).toMatch(
    /"name":"demo-app","version":"1\.0-r1","installed-size":408,"file-size":\d+}/,
  );
  expect((await device.apk('query', '--format', 'json', ...words)).code).toBe(1);
});

test('a plan that cannot be made is an empty answer, with exit code 0', async () => {
  const device = await startUpdatedApkDevice();

  const plan = await device.apk(
    'query',
    '--format',
    'json',
    '--recursive',
    '--world',
    '--fields',
    'name',
    'nosuch',
  );

  expect(plan).toMatchObject({ code: 0, stdout: '[\n]\n' });
  expect(plan.stderr).toContain('  nosuch (no such package):\n');
});

test('query of feeds lists every version with its architecture', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'demo-app');

  const answer = await query(
    device,
    '--from',
    'repositories',
    '--all-matches',
    '--fields',
    'name,version,arch',
    '*',
  );

  expect(answer).toHaveLength(66);
  expect(answer).toContainEqual({ name: 'demo-app', version: '1.0-r1', arch: 'noarch' });
  expect(answer).toContainEqual({ name: 'wrongarch', version: '1.0-r1', arch: 'mips_24kc' });
});

test('with --all-matches a name has the installed version and the offered one', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'demo-app');
  device.publish(2);
  await mustWork(device, 'update');
  const url = `${device.feed.url}/APKINDEX.tar.gz`;

  expect(
    await query(device, '--all-matches', '--fields', 'version,repositories', 'demo-app'),
  ).toEqual([
    { version: '1.0-r1', repositories: ['lib/apk/db/installed'] },
    { version: '1.1-r1', repositories: [url] },
  ]);
  expect(await query(device, '--fields', 'version', 'demo-app')).toEqual([{ version: '1.1-r1' }]);
  expect(await query(device, '--upgradable', '--fields', 'name,version', '*')).toEqual([
    { name: 'demo-app', version: '1.1-r1' },
    { name: 'libdemo', version: '1.0-r2' },
  ]);
});

test('what is installed is told with what is broken in it', async () => {
  const device = await startUpdatedApkDevice();
  await device.apk('add', 'badpost');

  expect(
    await query(device, '--from', 'installed', '--fields', 'name,status', 'badpost', 'libc'),
  ).toEqual([
    { name: 'badpost', status: ['installed', 'broken-script'] },
    { name: 'libc', status: ['installed'] },
  ]);
});

test('info -e names what is installed and counts what is not', async () => {
  const device = await startUpdatedApkDevice();

  expect(await device.apk('info', '-e', 'libc', 'virt')).toMatchObject({
    code: 1,
    stdout: 'libc\n',
  });
  expect(await device.apk('info', '-e', 'libc')).toMatchObject({ code: 0, stdout: 'libc\n' });
});

test('fetch loads packages into a folder, under the names that the cache gives them', async () => {
  const device = await startUpdatedApkDevice();
  const cache = join(device.root, 'tmp/cache/apk');
  const words = ['fetch', '--pkgname-spec', '${name}-${version}.${hash:8}.apk', '--output', cache];

  await mustWork(device, ...words, '--', 'libdemo', 'virt');
  const cached = (await readdir(cache)).filter((name) => name.endsWith('.apk'));
  expect(cached).toEqual([
    expect.stringMatching(/^libdemo-1\.0-r1\.[0-9a-f]{8}\.apk$/),
    expect.stringMatching(/^virt-1\.0-r1\.[0-9a-f]{8}\.apk$/),
  ]);
  const requests = device.feed.requests();

  await mustWork(device, '--no-network', '--cache-predownload', 'add', 'libdemo', 'virt');
  expect(device.feed.requests()).toBe(requests);
  await mustWork(device, 'cache', 'purge');
  expect((await readdir(cache)).filter((name) => name.endsWith('.apk'))).toEqual([]);
});

test('fetch counts what it could not load, and leaves no part of it', async () => {
  const device = await startUpdatedApkDevice();
  const cache = join(device.root, 'tmp/cache/apk');
  device.feed.misbehave('libdemo-1.0-r1.apk', 'cut');
  device.feed.misbehave('virt-1.0-r1.apk', 'missing');

  const fetch = await device.apk('fetch', '--output', cache, 'libdemo', 'virt', 'tiny-01');

  expect(fetch.code).toBe(2);
  expect((await readdir(cache)).filter((name) => name.endsWith('.apk'))).toEqual([
    'tiny-01-1.0-r1.apk',
  ]);
});

test('fetch knows NAME=VERSION only with --recursive', async () => {
  const device = await startUpdatedApkDevice();
  const output = join(device.root, 'tmp');

  expect(await device.apk('fetch', '--output', output, 'virt=1.0-r1')).toMatchObject({
    code: 1,
    stdout: 'virt: unable to select package (or its dependencies)\n',
  });
  await mustWork(device, 'fetch', '--recursive', '--output', output, 'virt=1.0-r1');
});

test('a folder for the cache has to be there, and packages stay in it', async () => {
  const device = await startUpdatedApkDevice();
  const folder = join(device.root, 'mnt');

  expect(await device.apk('--cache-dir', join(folder, 'nowhere'), 'add', 'virt')).toMatchObject({
    code: 99,
    stdout: '',
  });
  await mustWork(device, '--cache-dir', folder, 'add', 'virt');

  expect((await readdir(folder)).filter((name) => name.startsWith('virt-'))).toHaveLength(1);
});
