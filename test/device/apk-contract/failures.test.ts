import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { mustWork, script, simpleApk, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

test.each([
  ['badpost', 'post-install', 3],
  ['badpre', 'pre-install', 1],
])(
  '%s is installed all the same, marked, and counts in each later command',
  async (name, type, code) => {
    const device = await startUpdatedApkDevice();

    const add = await device.apk('add', name);

    expect(add.code).toBe(1);
    expect(add.stderr).toContain(
      `ERROR: lib/apk/exec/${name}-1.0-r1.${type}: exited with error ${code}\n`,
    );
    expect(await stateOf(device)).toEqual({ installed: [`${name}-1.0-r1 [s]`], world: [name] });

    const other = await device.apk('add', 'virt');
    expect(other).toMatchObject({ code: 1, stderr: '' });
    expect(other.stdout).toMatch(/^\(1\/1\) Installing virt \(1\.0-r1\)\n1 error; /);
    expect((await device.apk('upgrade')).code).toBe(1);
    expect((await device.apk('add', '-s', 'tiny-01')).code).toBe(1);

    expect((await device.apk('del', name)).code).toBe(0);
    expect(await stateOf(device)).toEqual({ installed: ['virt-1.0-r1'], world: ['virt'] });
  },
);

test('what needs a package whose script failed is installed', async () => {
  const device = await startUpdatedApkDevice();

  expect((await device.apk('add', 'needbadpost')).code).toBe(1);

  expect(await stateOf(device)).toEqual({
    installed: ['badpost-1.0-r1 [s]', 'needbadpost-1.0-r1'],
    world: ['needbadpost'],
  });
});

test('a failing script stops no removal, and its exit code is 0', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'badprerm', 'badpostrm');

  const del = await device.apk('del', 'badprerm', 'badpostrm');

  expect(del.code).toBe(0);
  expect(del.stderr).toContain('badprerm-1.0-r1.pre-deinstall: exited with error 1\n');
  expect(del.stderr).toContain('badpostrm-1.0-r1.post-deinstall: exited with error 1\n');
  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
});

test('an upgrade whose scripts fail has happened', async () => {
  const scripts = { 'pre-upgrade': script('exit 4'), 'post-upgrade': script('exit 5') };
  const device = await startUpdatedApkDevice({ packages: [simpleApk('odd')] });
  await mustWork(device, 'add', 'odd');
  device.publishPackages([simpleApk('odd', { version: '1.1-r1', scripts })]);
  await mustWork(device, 'update');

  expect((await device.apk('upgrade')).code).toBe(1);

  expect((await stateOf(device)).installed).toEqual(['odd-1.1-r1 [s]']);
});

test('--no-scripts installs without them', async () => {
  const device = await startUpdatedApkDevice();

  expect(await device.apk('add', '--no-scripts', 'badpost')).toMatchObject({ code: 0, stderr: '' });

  expect((await stateOf(device)).installed).toEqual(['badpost-1.0-r1']);
});

test("a file of another package stays that package's, the rest is installed, and del mends it", async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'demo-app');
  const program = await device.read('usr/bin/demo-app');
  expect((await device.apk('add', '-s', 'clash')).code).toBe(0);

  const add = await device.apk('add', 'clash');

  expect(add).toMatchObject({
    code: 1,
    stderr: 'ERROR: clash-1.0-r1: trying to overwrite usr/bin/demo-app owned by demo-app-1.0-r1.\n',
  });
  expect((await stateOf(device)).installed).toContain('clash-1.0-r1 [f]');
  expect(await device.read('usr/bin/demo-app')).toBe(program);
  expect(await device.read('usr/bin/clash')).toBeDefined();
  expect(await mustWork(device, 'info', '-W', '/usr/bin/demo-app')).toBe(
    '/usr/bin/demo-app is owned by demo-app-1.0-r1\n',
  );

  await mustWork(device, 'del', 'clash');
  expect(await device.read('usr/bin/demo-app')).toBe(program);
});

test('a file of a package of the same origin is taken over without a word', async () => {
  const packages = ['one', 'two'].map((name) =>
    simpleApk(name, { origin: 'both', files: { '/usr/bin/same': `${name}\n` } }),
  );
  const device = await startUpdatedApkDevice({ packages });

  expect(await device.apk('add', 'one', 'two')).toMatchObject({ code: 0, stderr: '' });

  expect(await device.read('usr/bin/same')).toBe('two\n');
  expect((await device.database()).get('one')?.files).not.toContain('usr/bin/same');
});

test('a file where a folder is needed marks the package', async () => {
  const device = await startUpdatedApkDevice();
  await writeFile(join(device.root, 'usr/lib'), '');

  const add = await device.apk('add', 'libdemo');

  expect(add).toMatchObject({
    code: 1,
    stderr: 'ERROR: libdemo-1.0-r1: failed to extract usr/lib/libdemo.so.1: Not a directory\n',
  });
  expect((await stateOf(device)).installed).toEqual(['libdemo-1.0-r1 [f]']);
});

test.each([
  [
    'missing',
    ['ERROR: wget: exited with error 8', 'ERROR: libdemo-1.0-r1: unexpected end of file'],
  ],
  ['html', ['ERROR: libdemo-1.0-r1: file format is invalid or inconsistent']],
  ['truncated', ['ERROR: libdemo-1.0-r1: v2 package integrity error']],
  ['cut', ['ERROR: wget: exited with error 4', 'ERROR: libdemo-1.0-r1: Network is unreachable']],
  ['changed', ['ERROR: libdemo-1.0-r1: file format is invalid or inconsistent']],
] as const)(
  'a download that is %s leaves a dependency out, and what needs it in',
  async (fault, errors) => {
    const device = await startUpdatedApkDevice();
    device.feed.misbehave('libdemo-1.0-r1.apk', fault);

    const add = await device.apk('add', 'app-meta-demo');

    expect(add).toMatchObject({ code: 1, stderr: `${errors.join('\n')}\n` });
    expect(await stateOf(device)).toEqual({
      installed: ['app-meta-demo-1.0-r1', 'demo-app-1.0-r1'],
      world: ['app-meta-demo'],
    });

    device.feed.behave();
    await mustWork(device, 'fix');
    expect((await stateOf(device)).installed).toContain('libdemo-1.0-r1');
  },
);

test.each(['missing', 'html', 'truncated', 'cut', 'changed'] as const)(
  'with --cache-predownload a download that is %s changes nothing: 99',
  async (fault) => {
    const device = await startUpdatedApkDevice();
    device.feed.misbehave('libdemo-1.0-r1.apk', fault);
    const before = await device.read('lib/apk/db/installed');

    const add = await device.apk('add', '--cache-predownload', 'app-meta-demo');

    expect(add.code).toBe(99);
    expect(add.stdout).toBe(
      'Downloading 3 packages...\n(1/3) Downloading libdemo-1.0-r1\n(2/3) Downloading demo-app-1.0-r1\n(3/3) Downloading app-meta-demo-1.0-r1\n',
    );
    expect(await device.read('lib/apk/db/installed')).toBe(before);
    expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  },
);

test('a package whose own download fails stays in world, and fails each later command', async () => {
  const device = await startUpdatedApkDevice();

  expect((await device.apk('add', 'gone')).code).toBe(1);
  expect(await stateOf(device)).toEqual({ installed: [], world: ['gone'] });

  const other = await device.apk('add', 'virt');
  expect(other.code).toBe(1);
  expect(other.stdout).toContain(
    '(1/2) Installing gone (1.0-r1)\n(2/2) Installing virt (1.0-r1)\n',
  );

  await mustWork(device, 'del', 'gone');
  await mustWork(device, 'add', 'tiny-01');
});

test('ten packages that cannot be loaded are ten errors', async () => {
  const device = await startUpdatedApkDevice();
  const names = Array.from({ length: 10 }, (_, at) => `tiny-${String(at + 1).padStart(2, '0')}`);
  for (const name of names) device.feed.misbehave(`${name}-1.0-r1.apk`, 'missing');

  const add = await device.apk('add', ...names);

  expect(add.code).toBe(10);
  expect(add.stdout).toMatch(/\n10 errors; \d+ B in 3 packages\n$/);
});

test('an upgrade that misses one of three does the other two', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'app-meta-demo');
  device.publish(2);
  await mustWork(device, 'update');
  device.feed.misbehave('demo-app-1.1-r1.apk', 'missing');

  expect((await device.apk('upgrade')).code).toBe(1);
  expect((await stateOf(device)).installed).toEqual([
    'app-meta-demo-1.1-r1',
    'demo-app-1.0-r1',
    'libdemo-1.0-r2',
  ]);

  device.feed.behave();
  await mustWork(device, 'upgrade');
  expect((await stateOf(device)).installed).toContain('demo-app-1.1-r1');
});

test('a hook of the owner that fails before the commit stops it: 99', async () => {
  const device = await startUpdatedApkDevice();
  const hook = script('echo "hook $1"; [ "$1" != pre-commit ]');
  await mkdir(join(device.root, 'etc/apk/commit_hooks.d'));
  await writeFile(join(device.root, 'etc/apk/commit_hooks.d/mine'), hook, { mode: 0o755 });

  const add = await device.apk('add', 'virt');

  expect(add).toEqual({
    code: 99,
    stdout: 'Executing pre-commit mine\n* hook pre-commit\n',
    stderr: 'ERROR: etc/apk/commit_hooks.d/mine: exited with error 1\n',
  });
  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  expect((await device.apk('add', '-s', 'virt')).code).toBe(0);
});

test('world put back by hand and fix take a failed installation back', async () => {
  const device = await startUpdatedApkDevice();
  const world = (await device.read('etc/apk/world')) ?? '';
  await device.apk('add', 'badpost');
  await writeFile(join(device.root, 'etc/apk/world'), world);

  await mustWork(device, 'fix');

  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  expect(await device.read('usr/bin/badpost')).toBeUndefined();
});

test('a broken package may be in the plan of a command that has nothing to do with it', async () => {
  const device = await startUpdatedApkDevice();
  await device.apk('add', 'badpost', 'gone');
  await appendFile(join(device.root, 'etc/apk/world'), 'virt\n');

  const fix = await device.apk('fix');

  expect(fix.code).toBe(2);
  expect((await stateOf(device)).installed).toEqual(['badpost-1.0-r1 [s]', 'virt-1.0-r1']);
});
