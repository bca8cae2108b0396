import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { slowPackage } from '../packages/awkward-packages.ts';
import { runCommand } from '../command.ts';
import { errors, lines, startDevice, startUpdatedDevice } from './start-device.ts';

const SLOW = { packages: [slowPackage(2)] };

test('while one opkg runs, every other fails at once, those that only look too', async () => {
  const { opkg, root, startOpkg } = await startUpdatedDevice(SLOW);
  const install = startOpkg('install', 'slow');
  await install.printed('slow: postinst begin');

  const refusal = {
    code: 255,
    stdout: '',
    stderr: errors(
      `opkg_conf_load: Could not lock ${root}//var/lock/opkg.lock: Resource temporarily unavailable.`,
    ),
  };
  for (const words of [
    ['list-installed'],
    ['status', 'libc'],
    ['info'],
    ['print-architecture'],
    ['compare-versions', '1', '<<', '2'],
    ['update'],
  ]) {
    expect(await opkg(...words)).toEqual(refusal);
  }
  expect((await opkg('--version')).code).toBe(0);

  expect((await install.outcome).code).toBe(0);
});

test('the lock file goes with its opkg', async () => {
  const { opkg, root } = await startDevice();
  await writeFile(join(root, 'var/lock/opkg.lock'), 'left behind');

  expect((await opkg('list-installed')).code).toBe(0);

  await expect(stat(join(root, 'var/lock/opkg.lock'))).rejects.toThrow('ENOENT');
});

test('without its file the lock keeps nobody out', async () => {
  const { opkg, root, startOpkg } = await startUpdatedDevice(SLOW);
  const install = startOpkg('install', 'slow');
  await install.printed('slow: postinst begin');

  await rm(join(root, 'var/lock/opkg.lock'));

  expect(await opkg('list-installed')).toEqual({
    code: 0,
    stdout: lines('libc - 1.2.3-4'),
    stderr: '',
  });
  // The first finds its file gone when it wants to remove it.
  expect(await install.outcome).toMatchObject({ code: 0 });
});

test('flock on the same file keeps nobody out', async () => {
  const { env, root } = await startDevice();

  const locked = await runCommand(
    ['flock', '-n', join(root, 'var/lock/opkg.lock'), 'opkg', '-o', root, 'list-installed'],
    { env },
  );

  expect(locked).toEqual({ code: 0, stdout: lines('libc - 1.2.3-4'), stderr: '' });
});

test('without a folder for the lock nothing works', async () => {
  const { opkg, root } = await startDevice();
  await rm(join(root, 'tmp/lock'), { recursive: true, maxRetries: 20, retryDelay: 100 });

  expect(await opkg('list-installed')).toEqual({
    code: 255,
    stdout: '',
    stderr: errors(
      `opkg_conf_load: Could not create lock file ${root}//var/lock/opkg.lock: No such file or directory.`,
    ),
  });
});
