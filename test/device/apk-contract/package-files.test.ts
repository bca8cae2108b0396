import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { ApkDevice } from '../apk-device/apk-device.ts';
import { createApk, type ApkSource } from '../apk-device/apk.ts';
import { runCommand } from '../command.ts';
import { createIpk } from '../ipk.ts';
import { mustWork, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

const LOCAL: ApkSource = {
  name: 'local-only',
  version: '3.0-r1',
  depends: ['libdemo'],
  files: { '/usr/bin/local-only': 'three\n' },
};

async function put(device: ApkDevice, content: Buffer | string): Promise<string> {
  const path = join(device.root, 'tmp/up.apk');
  await writeFile(path, content);
  return path;
}

test('an unsigned package is refused unless --allow-untrusted: 99', async () => {
  const device = await startUpdatedApkDevice();
  const path = await put(device, createApk(LOCAL).bytes);

  expect(await device.apk('add', path)).toEqual({
    code: 99,
    stdout: '',
    stderr: `ERROR: ${path}: UNTRUSTED signature\n`,
  });
  expect(await device.apk('verify', path)).toMatchObject({
    code: 1,
    stdout: `${path}: UNTRUSTED signature\n`,
  });
  expect(await mustWork(device, 'verify', '--allow-untrusted', path)).toBe(`${path}: OK\n`);
});

test('what it needs comes from the feed, and world pins its identity', async () => {
  const device = await startUpdatedApkDevice();
  const { bytes, identity } = createApk(LOCAL);
  const path = await put(device, bytes);
  expect(await mustWork(device, 'add', '-s', '--allow-untrusted', path)).toContain(
    '(1/2) Installing libdemo (1.0-r1)\n(2/2) Installing local-only (3.0-r1)\n',
  );

  await mustWork(device, 'add', '--allow-untrusted', path);

  expect(await stateOf(device)).toEqual({
    installed: ['libdemo-1.0-r1', 'local-only-3.0-r1'],
    world: [`local-only><${identity}`],
  });
  await rm(path);
  await mustWork(device, 'add', 'virt');
  await mustWork(device, 'upgrade');
});

test('a newer or an older file takes its place, the same one changes nothing', async () => {
  const device = await startUpdatedApkDevice();
  const install = async (version: string): Promise<string> => {
    const path = await put(device, createApk({ ...LOCAL, version }).bytes);
    return mustWork(device, 'add', '--allow-untrusted', path);
  };
  await install('3.0-r1');

  expect(await install('3.1-r1')).toContain('(1/1) Upgrading local-only (3.0-r1 -> 3.1-r1)\n');
  expect(await install('3.1-r1')).toMatch(/^OK: /);
  expect(await install('3.0-r1')).toContain('(1/1) Downgrading local-only (3.1-r1 -> 3.0-r1)\n');
});

test('no upgrade replaces it until its name is added again', async () => {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'demo-app');
  const local: ApkSource = { name: 'demo-app', version: '1.0.5-r1', files: LOCAL.files ?? {} };
  await mustWork(device, 'add', '--allow-untrusted', await put(device, createApk(local).bytes));
  device.publish(2);
  await mustWork(device, 'update');

  await mustWork(device, 'upgrade');
  expect((await stateOf(device)).installed).toContain('demo-app-1.0.5-r1');
  expect(await mustWork(device, 'list', '-u')).toContain('demo-app-1.1-r1 ');

  await mustWork(device, 'add', '-u', 'demo-app');
  expect(await stateOf(device)).toEqual({
    installed: ['demo-app-1.1-r1', 'libdemo-1.0-r2'],
    world: ['demo-app'],
  });
});

test('a dependency that nobody has refuses it', async () => {
  const device = await startUpdatedApkDevice();
  const path = await put(device, createApk({ ...LOCAL, depends: ['nosuch'] }).bytes);

  const add = await device.apk('add', '--allow-untrusted', path);

  expect(add.code).toBeGreaterThan(0);
  expect(add.stderr).toContain('    required by: local-only-3.0-r1[nosuch]\n');
  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
});

test.each([
  ['a page', '<html>\n', 'file format is invalid or inconsistent'],
  ['the first bytes of one', createApk(LOCAL).bytes.subarray(0, 150), 'unexpected end of file'],
  [
    'an .ipk',
    createIpk({ name: 'x', version: '1', architecture: 'all' }).bytes,
    'v2 package format error',
  ],
])('%s is no package: 99, and nothing changes', async (_, content, reason) => {
  const device = await startUpdatedApkDevice();
  const path = await put(device, content);

  expect(await device.apk('add', '--allow-untrusted', path)).toEqual({
    code: 99,
    stdout: '',
    stderr: `ERROR: ${path}: ${reason}\n`,
  });
  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
});

test('verify calls an .ipk good', async () => {
  const device = await startUpdatedApkDevice();
  const ipk = createIpk({ name: 'x', version: '1', architecture: 'all' });

  expect((await device.apk('verify', '--allow-untrusted', await put(device, ipk.bytes))).code).toBe(
    0,
  );
});

test('a path that is not there is taken for a name', async () => {
  const device = await startUpdatedApkDevice();

  const add = await device.apk('add', '--allow-untrusted', '/nowhere/x.apk');

  expect(add).toMatchObject({ code: 1, stdout: '' });
  expect(add.stderr).toContain('  /nowhere/x.apk (no such package):\n');
});

test('a name with a dot that is a file in the working folder is that file', async () => {
  const device = await startUpdatedApkDevice();
  await put(device, createApk(LOCAL).bytes);
  const words = ['apk', '--root', device.root, 'add', 'up.apk'] as const;

  expect(
    await runCommand([...words], { env: device.env, cwd: join(device.root, 'tmp') }),
  ).toMatchObject({ code: 99, stderr: 'ERROR: up.apk: UNTRUSTED signature\n' });
});

test('it is loaded ahead with what it needs, and cache purge drops both', async () => {
  const device = await startUpdatedApkDevice();
  const path = await put(device, createApk(LOCAL).bytes);

  expect(await mustWork(device, '--cache-predownload', 'add', '--allow-untrusted', path)).toContain(
    '(1/2) Downloading libdemo-1.0-r1\n(2/2) Downloading local-only-3.0-r1\nProceeding with upgrade...\n',
  );
});
