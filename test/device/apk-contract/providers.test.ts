import { expect, test } from 'vitest';

import { mustWork, simpleApk, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

const PACKAGES = [
  simpleApk('web-a', { provides: ['web=1.0'] }),
  simpleApk('web-b', { provides: ['web=1.0'], providerPriority: 100 }),
  simpleApk('needs-web', { depends: ['web'] }),
  simpleApk('libabi1.0', { provides: ['libabi'] }),
  simpleApk('needs-abi', { depends: ['libabi'] }),
  simpleApk('enemy', { depends: ['!demo-app'] }),
];

test('of several providers the one with the priority is taken', async () => {
  const device = await startUpdatedApkDevice({ packages: PACKAGES });

  await mustWork(device, 'add', 'needs-web');

  expect(await stateOf(device)).toEqual({
    installed: ['needs-web-1.0-r1', 'web-b-1.0-r1'],
    world: ['needs-web'],
  });
});

test('adding another provider removes the one that was there as a dependency', async () => {
  const device = await startUpdatedApkDevice({ packages: PACKAGES });
  await mustWork(device, 'add', 'needs-web');

  expect(await mustWork(device, 'add', 'web-a')).toMatch(
    /^\(1\/2\) Purging web-b \(1\.0-r1\)\n\(2\/2\) Installing web-a \(1\.0-r1\)\n/,
  );

  expect((await stateOf(device)).installed).toEqual(['needs-web-1.0-r1', 'web-a-1.0-r1']);
});

test('two providers in world exclude each other', async () => {
  const device = await startUpdatedApkDevice({ packages: PACKAGES });

  const add = await device.apk('add', 'web-a', 'web-b');

  expect(add.code).toBeGreaterThan(0);
  expect(add.stderr).toContain('  web-a-1.0-r1:\n    conflicts: web-b-1.0-r1[web=1.0]\n');
  expect((await stateOf(device)).installed).toEqual([]);
});

test('a name without a version is taken only from a package that is asked for', async () => {
  const device = await startUpdatedApkDevice({ packages: PACKAGES });

  const refusal = await device.apk('add', 'needs-abi');
  expect(refusal.code).toBeGreaterThan(0);
  expect(refusal.stderr).toContain(
    "  libabi (virtual):\n    note: please select one of the 'provided by'\n          packages explicitly\n    provided by: libabi1.0\n",
  );

  await mustWork(device, 'add', 'needs-abi', 'libabi1.0');
  expect((await stateOf(device)).installed).toEqual(['libabi1.0-1.0-r1', 'needs-abi-1.0-r1']);
});

test('world takes a provided name as it was asked for, and del takes it out again', async () => {
  const device = await startUpdatedApkDevice({ packages: PACKAGES });
  await mustWork(device, 'add', 'web');
  expect(await stateOf(device)).toEqual({ installed: ['web-b-1.0-r1'], world: ['web'] });

  await mustWork(device, 'del', 'web');

  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
});

test('a name with ! keeps a package away, until that package is added or removed', async () => {
  const device = await startUpdatedApkDevice({ packages: PACKAGES });
  await mustWork(device, 'add', 'enemy');
  await mustWork(device, 'add', '!enemy', 'demo-app');
  expect(await stateOf(device)).toEqual({
    installed: ['demo-app-1.0-r1', 'libdemo-1.0-r1'],
    world: ['demo-app', '!enemy'],
  });

  expect(await device.apk('del', '!enemy')).toMatchObject({
    code: 1,
    stderr: 'ERROR: No such package: !enemy\n',
  });
  await mustWork(device, 'del', 'enemy');

  expect((await stateOf(device)).world).toEqual(['demo-app']);
});
