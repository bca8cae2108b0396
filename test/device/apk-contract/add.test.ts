import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { lines, mustWork, simpleApk, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

const NOTHING = { installed: [], world: [] };

test('add installs a package after what it needs, and world names it alone', async () => {
  const device = await startUpdatedApkDevice();

  const add = await device.apk('add', 'app-meta-demo');

  expect(add).toMatchObject({ code: 0, stderr: '' });
  expect(add.stdout).toMatch(
    /^\(1\/3\) Installing libdemo \(1\.0-r1\)\n\(2\/3\) Installing demo-app \(1\.0-r1\)\n {2}Executing demo-app-1\.0-r1\.post-install\n {2}\* demo-app postinst-pkg: [^]*\(3\/3\) Installing app-meta-demo \(1\.0-r1\)\nOK: \d+ B in 6 packages\n$/,
  );
  expect(await stateOf(device)).toEqual({
    installed: ['app-meta-demo-1.0-r1', 'demo-app-1.0-r1', 'libdemo-1.0-r1'],
    world: ['app-meta-demo'],
  });
  expect(await mustWork(device, 'audit', '--system')).toBe('');
});

test('add of what is there only writes the database again', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo');
  const path = join(device.root, 'lib/apk/db/installed');
  const [text, { ino }] = [await device.read('lib/apk/db/installed'), await stat(path)];

  expect(await mustWork(device, 'add', 'app-meta-demo')).toMatch(/^OK: \d+ B in 6 packages\n$/);

  expect(await device.read('lib/apk/db/installed')).toBe(text);
  expect((await stat(path)).ino).not.toBe(ino);
});

test('a package that was there as a dependency is asked for from then on', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo');
  await mustWork(device, 'add', 'demo-app');

  await mustWork(device, 'del', 'app-meta-demo');

  expect(await stateOf(device)).toEqual({
    installed: ['demo-app-1.0-r1', 'libdemo-1.0-r1'],
    world: ['demo-app'],
  });
});

test.each([
  ['nosuch', ['  nosuch (no such package):', '    required by: world[nosuch]']],
  [
    'needmissing',
    ['  does-not-exist (no such package):', '    required by: needmissing-1.0-r1[does-not-exist]'],
  ],
  ['libdemo=9', ['  libdemo-1.0-r1:', '    breaks: world[libdemo=9]']],
  [
    'wrongarch',
    [
      '  wrongarch-1.0-r1:',
      '    error: uninstallable',
      '    arch: mips_24kc',
      '    satisfies: world[wrongarch]',
    ],
  ],
])('add %s is refused, and what was asked for with it', async (name, reasons) => {
  const device = await startUpdatedApkDevice();

  const add = await device.apk('add', name, 'virt');

  expect(add.code).toBeGreaterThan(0);
  expect(add.code).toBeLessThan(99);
  expect(add).toMatchObject({
    stdout: '',
    stderr: lines('ERROR: unable to select packages:', ...reasons),
  });
  expect(await stateOf(device)).toEqual(NOTHING);
});

test('a package that conflicts with one in world is refused', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'libdemo');

  const add = await device.apk('add', 'conflictor');

  expect(add.code).toBeGreaterThan(0);
  expect(add.stderr).toContain('    breaks: conflictor-1.0-r1[!libdemo]\n');
  expect((await stateOf(device)).installed).toEqual(['libdemo-1.0-r1']);
});

test('add upgrades what it must, and nothing else', async () => {
  const newer = simpleApk('needs-newer', { depends: ['libdemo>=1.0-r2'] });
  const device = await startUpdatedApkDevice({ packages: [newer] });
  await mustWork(device, 'add', 'app-meta-demo');
  device.publish(2);
  await mustWork(device, 'update');

  await mustWork(device, 'add', 'virt');
  expect((await stateOf(device)).installed).toContain('libdemo-1.0-r1');
  await mustWork(device, 'add', 'needs-newer');

  expect((await stateOf(device)).installed).toEqual([
    'app-meta-demo-1.0-r1',
    'demo-app-1.0-r1',
    'libdemo-1.0-r2',
    'needs-newer-1.0-r1',
    'virt-1.0-r1',
  ]);
});

test('add -u upgrades, and asks for the package from then on', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo');
  device.publish(2);
  await mustWork(device, 'update');

  await mustWork(device, 'add', '-u', 'demo-app');

  const { installed, world } = await stateOf(device);
  expect(installed).toContain('demo-app-1.1-r1');
  expect(world).toEqual(['app-meta-demo', 'demo-app']);
});

test('a file that nobody owns is overwritten without a word', async () => {
  const device = await startUpdatedApkDevice();
  await writeFile(join(device.root, 'usr/bin/virt'), 'mine\n');

  expect(await device.apk('add', 'virt')).toMatchObject({ code: 0, stderr: '' });

  expect(await device.read('usr/bin/virt')).not.toBe('mine\n');
});
