import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { ApkDevice } from '../apk-device/apk-device.ts';
import { mustWork, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

async function startUpgradable(...names: readonly string[]): Promise<ApkDevice> {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', ...names);
  device.publish(2);
  await mustWork(device, 'update');
  return device;
}

test('upgrade takes all, what is needed first, and drops what is needed no more', async () => {
  const device = await startUpgradable('app-meta-demo', 'app-meta-notes');

  const stdout = await mustWork(device, 'upgrade');

  expect(stdout.match(/^\(\d\/6\) .*$/gm)).toEqual([
    '(1/6) Upgrading libdemo (1.0-r1 -> 1.0-r2)',
    '(2/6) Upgrading demo-app (1.0-r1 -> 1.1-r1)',
    '(3/6) Upgrading app-meta-demo (1.0-r1 -> 1.1-r1)',
    '(4/6) Upgrading notes-app (1.0-r1 -> 1.1-r1)',
    '(5/6) Purging libonce (1.0-r1)',
    '(6/6) Upgrading app-meta-notes (1.0-r1 -> 1.1-r1)',
  ]);
  expect((await stateOf(device)).world).toEqual(['app-meta-demo', 'app-meta-notes']);
  expect(await device.read('usr/share/notes-app/first.txt')).toBeUndefined();
  expect(await mustWork(device, 'audit', '--system')).toBe('');
});

test('upgrade with a name takes only that one', async () => {
  const device = await startUpgradable('app-meta-demo');

  await mustWork(device, 'upgrade', 'libdemo');

  expect((await stateOf(device)).installed).toEqual([
    'app-meta-demo-1.0-r1',
    'demo-app-1.0-r1',
    'libdemo-1.0-r2',
  ]);
});

test('a known name that is not installed is no error, an unknown one is', async () => {
  const device = await startUpgradable('demo-app');

  expect(await device.apk('upgrade', 'virt')).toMatchObject({ code: 0, stderr: '' });
  expect(await device.apk('upgrade', 'nosuch')).toEqual({
    code: 1,
    stdout: '',
    stderr: "ERROR: Package 'nosuch' not found\n",
  });
  expect((await stateOf(device)).installed).toEqual(['demo-app-1.0-r1', 'libdemo-1.0-r1']);
});

test('only scripts of the new package run, with both versions', async () => {
  const device = await startUpgradable('demo-app');

  const stdout = await mustWork(device, 'upgrade');

  expect(stdout.match(/^ {2}Executing .*$/gm)).toEqual([
    '  Executing demo-app-1.1-r1.post-upgrade',
  ]);
  expect(stdout).toContain('args=[1.1-r1 1.0-r1]');
  expect(stdout).toContain('PKG_UPGRADE=[1]');
});

test('upgrade never goes back, add with a version does, and pins it', async () => {
  const device = await startUpgradable('libdemo');
  await mustWork(device, 'upgrade');
  device.publish(1);
  await mustWork(device, 'update');

  await mustWork(device, 'upgrade');
  expect((await stateOf(device)).installed).toEqual(['libdemo-1.0-r2']);

  expect(await mustWork(device, 'add', 'libdemo=1.0-r1')).toContain(
    '(1/1) Downgrading libdemo (1.0-r2 -> 1.0-r1)\n',
  );
  expect(await stateOf(device)).toEqual({
    installed: ['libdemo-1.0-r1'],
    world: ['libdemo=1.0-r1'],
  });
});

test('a pinned package is left alone silently, and listed as upgradable all the same', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'libdemo=1.0-r1');
  device.publish(2);
  await mustWork(device, 'update');

  const upgrade = await device.apk('upgrade');
  expect(upgrade).toMatchObject({ code: 0, stderr: '' });
  expect(upgrade.stdout).toMatch(/^OK: .*\n$/);
  expect(await mustWork(device, 'list', '-u')).toBe(
    'libdemo-1.0-r2 x86_64 {feeds/lab/libdemo} (MIT) [upgradable from: libdemo-1.0-r1]\n',
  );

  await mustWork(device, 'add', 'libdemo');
  expect(await stateOf(device)).toEqual({ installed: ['libdemo-1.0-r1'], world: ['libdemo'] });
  await mustWork(device, 'upgrade');
  expect((await stateOf(device)).installed).toEqual(['libdemo-1.0-r2']);
});

test.each(['unavailable', 'stale'])('with a feed that is %s nothing is upgraded', async (what) => {
  const device = await startUpgradable('demo-app');
  await device.feed.refuse();
  if (what === 'unavailable') await rm(join(device.root, 'tmp/cache/apk'), { recursive: true });

  const upgrade = await device.apk('upgrade', '-U');

  expect(upgrade).toMatchObject({ code: 99, stdout: '' });
  expect(upgrade.stderr).toContain(
    'ERROR: Not continuing due to stale/unavailable repositories. Use --force-missing-repositories to continue.\n',
  );
  expect((await stateOf(device)).installed).toContain('demo-app-1.0-r1');
});

test('fix installs a package again, as an upgrade to its scripts', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'demo-app');
  await rm(join(device.root, 'usr/bin/demo-app'));

  expect(await mustWork(device, 'fix')).toMatch(/^OK: /);
  expect(await device.read('usr/bin/demo-app')).toBeUndefined();
  const stdout = await mustWork(device, 'fix', 'demo-app');

  expect(stdout).toContain('(1/1) Reinstalling demo-app (1.0-r1)\n');
  expect(stdout).toContain('Executing demo-app-1.0-r1.post-upgrade\n');
  expect(await device.read('usr/bin/demo-app')).toBeDefined();
});

test('fix skips a package whose very build no feed has', async () => {
  const device = await startUpgradable('demo-app');

  expect(await mustWork(device, 'fix', 'demo-app')).toContain(
    '(1/1) [APK unavailable, skipped] Reinstalling demo-app (1.0-r1)\n',
  );
});
