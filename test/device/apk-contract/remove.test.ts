import { expect, test } from 'vitest';

import { mustWork, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

test('del removes a package and whatever world no longer reaches', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo');
  await mustWork(device, 'add', 'app-meta-notes');

  expect(await mustWork(device, 'del', 'app-meta-notes')).toMatch(
    /^\(1\/3\) Purging app-meta-notes \(1\.0-r1\)\n\(2\/3\) Purging notes-app \(1\.0-r1\)\n {2}Executing notes-app-1\.0-r1\.pre-deinstall\n\(3\/3\) Purging libonce \(1\.0-r1\)\nOK: /,
  );

  expect(await stateOf(device)).toEqual({
    installed: ['app-meta-demo-1.0-r1', 'demo-app-1.0-r1', 'libdemo-1.0-r1'],
    world: ['app-meta-demo'],
  });
  expect(await mustWork(device, 'audit', '--system')).toBe('');
});

test('what others need stays, with exit code 0, and leaves world', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo', 'libdemo');

  expect(await mustWork(device, 'del', 'libdemo')).toMatch(
    /^World updated, but the following packages are not removed due to:\n {2}libdemo: app-meta-demo\n\nOK: /,
  );

  const { installed, world } = await stateOf(device);
  expect(installed).toContain('libdemo-1.0-r1');
  expect(world).toEqual(['app-meta-demo']);
});

test('what stays is upgraded if the feed has something newer', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo', 'libdemo');
  device.publish(2);
  await mustWork(device, 'update');

  expect(await mustWork(device, 'del', 'libdemo')).toContain(
    '(1/1) Upgrading libdemo (1.0-r1 -> 1.0-r2)\n',
  );
});

test('del -r removes with a package all that need it', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo', 'virt');

  await mustWork(device, 'del', '-r', 'libdemo');

  expect(await stateOf(device)).toEqual({ installed: ['virt-1.0-r1'], world: ['virt'] });
});

test('a name that is known somewhere and not installed is no error, one that is not is', async () => {
  const device = await startUpdatedApkDevice();

  expect(await device.apk('del', 'virt')).toMatchObject({ code: 0, stderr: '' });
  expect(await device.apk('del', 'does-not-exist')).toMatchObject({ code: 0, stderr: '' });
  expect(await device.apk('del', 'nosuch')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'ERROR: No such package: nosuch\n',
  });
});

test('folders that become empty go, those of others stay', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'notes-app');
  expect(await device.read('usr/share/notes-app/first.txt')).toBeDefined();

  await mustWork(device, 'del', 'notes-app');

  expect(await device.read('usr/share/notes-app/first.txt')).toBeUndefined();
  expect(await device.read('lib/functions.sh')).toBeDefined();
});
