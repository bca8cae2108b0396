import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { toApkPackage } from '../apk-device/apk-conversion.ts';
import type { ApkDevice } from '../apk-device/apk-device.ts';
import { slowPackage } from '../packages/awkward-packages.ts';
import { mustWork, script, simpleApk, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

const SLOW = [toApkPackage(slowPackage(1))];

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGKILL', 137],
] as const)('%s in a script leaves new files and the old database', async (signal, code) => {
  const device = await startUpdatedApkDevice({ packages: SLOW });
  const add = device.startApk('add', 'demo-app', 'slow');
  await add.printed('slow: postinst begin');

  add.signal(signal);

  expect(await add.exit).toBe(code);
  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  expect(await device.read('usr/bin/demo-app')).toBeDefined();
  expect(await device.read('usr/bin/slow')).toBeDefined();
  await add.outcome;
});

test('an interrupted installation can be taken back: once in and out without scripts', async () => {
  const device = await startInterrupted();

  await mustWork(device, 'add', '--no-scripts', 'demo-app', 'slow');
  await mustWork(device, 'del', '--no-scripts', 'demo-app', 'slow');

  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  expect(await device.read('usr/bin/demo-app')).toBeUndefined();
  expect(await device.read('usr/bin/slow')).toBeUndefined();
});

test('the next command goes through after an interruption', async () => {
  const device = await startInterrupted();

  await mustWork(device, 'add', 'virt');
  await mustWork(device, 'add', 'demo-app', 'slow');

  expect(await mustWork(device, 'audit', '--system')).toBe('');
});

async function startInterrupted(): Promise<ApkDevice> {
  const device = await startUpdatedApkDevice({ packages: SLOW });
  const add = device.startApk('add', 'demo-app', 'slow');
  await add.printed('slow: postinst begin');
  add.signal('SIGTERM');
  await add.outcome;
  return device;
}

test('an interrupted upgrade shows in the audit, and the next upgrade ends it', async () => {
  const device = await startUpdatedApkDevice({ packages: SLOW });
  await mustWork(device, 'add', 'demo-app', 'slow');
  const newer = { ...SLOW[0], name: 'slow', version: '1.1-r1' };
  device.publishPackages([newer], 2);
  await mustWork(device, 'update');
  const upgrade = device.startApk('upgrade');
  await upgrade.printed('slow: postinst begin');
  upgrade.signal('SIGKILL');
  await upgrade.outcome;

  expect((await stateOf(device)).installed).toContain('demo-app-1.0-r1');
  expect((await mustWork(device, 'audit', '--system')).split('\n')).toContain('U usr/bin/demo-app');

  await mustWork(device, 'upgrade');
  expect((await stateOf(device)).installed).toContain('demo-app-1.1-r1');
  expect(await mustWork(device, 'audit', '--system')).toBe('');
});

test('an interrupted removal leaves packages without files, which only their names bring back', async () => {
  const scripts = { 'post-deinstall': script('echo "slowly: begin"; sleep 1') };
  const device = await startUpdatedApkDevice({ packages: [simpleApk('slowly', { scripts })] });
  await mustWork(device, 'add', 'demo-app', 'slowly', 'virt');
  const del = device.startApk('del', 'demo-app', 'slowly');
  await del.printed('slowly: begin');
  del.signal('SIGKILL');
  await del.outcome;

  expect((await stateOf(device)).installed).toContain('demo-app-1.0-r1');
  const lost = (await mustWork(device, 'audit', '--system')).split('\n');
  expect(lost).toEqual(expect.arrayContaining(['X usr/bin/demo-app', 'X usr/bin/slowly']));

  await mustWork(device, 'fix');
  expect(await device.read('usr/bin/demo-app')).toBeUndefined();
  await mustWork(device, 'fix', 'demo-app');
  expect(await device.read('usr/bin/demo-app')).toBeDefined();
  await mustWork(device, 'del', 'demo-app', 'slowly');
});

test('the audit does not look into folders that are gone', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'notes-app');
  await rm(join(device.root, 'usr/share/notes-app'), { recursive: true });
  await rm(join(device.root, 'usr/bin/notes-app'));

  expect(await mustWork(device, 'audit', '--system')).toBe('X usr/bin/notes-app\n');
});

test('SIGTERM in a pre-download changes nothing', async () => {
  const device = await startUpdatedApkDevice();
  device.feed.misbehave('virt-1.0-r1.apk', 'stalled');
  const add = device.startApk('add', '--cache-predownload', 'virt');
  await expect.poll(() => device.feed.requests('virt-1.0-r1.apk')).toBe(1);

  add.signal('SIGTERM');

  expect(await add.exit).toBe(143);
  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  await device.feed.refuse();
  await add.outcome;
  await device.feed.listen();
});

test('what a script leaves behind with its output open keeps apk waiting', async () => {
  const scripts = { 'post-install': script('sleep 2 &\necho "left behind: started"') };
  const device = await startUpdatedApkDevice({ packages: [simpleApk('left-behind', { scripts })] });
  const add = device.startApk('add', 'left-behind');
  await add.printed('left behind: started');
  const started = performance.now();

  expect(await add.exit).toBe(0);

  expect(performance.now() - started).toBeGreaterThan(1_500);
});
