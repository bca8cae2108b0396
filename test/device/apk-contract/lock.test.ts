import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { toApkPackage } from '../apk-device/apk-conversion.ts';
import type { ApkDevice } from '../apk-device/apk-device.ts';
import { runCommand, type RunningCommand } from '../command.ts';
import { slowPackage } from '../packages/awkward-packages.ts';
import { lines, mustWork, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

const LOCK = 'lib/apk/db/lock';

async function startSlow(seconds: number): Promise<{ device: ApkDevice; add: RunningCommand }> {
  const device = await startUpdatedApkDevice({ packages: [toApkPackage(slowPackage(seconds))] });
  const add = device.startApk('add', 'slow');
  await add.printed('slow: postinst begin');
  return { device, add };
}

const REFUSED = {
  code: 99,
  stdout: '',
  stderr: lines(
    'ERROR: Unable to lock database: Resource temporarily unavailable',
    'ERROR: Failed to open apk database: Resource temporarily unavailable',
  ),
};

test('while one apk changes packages, others may only look', async () => {
  const { device, add } = await startSlow(3);

  for (const words of [['add', 'virt'], ['del', 'virt'], ['fix'], ['upgrade'], ['update']]) {
    expect(await device.apk(...words)).toEqual(REFUSED);
  }
  for (const words of [['list', '-I'], ['add', '-s', 'virt'], ['upgrade', '-s'], ['info']]) {
    expect((await device.apk(...words)).code).toBe(0);
  }

  expect((await add.outcome).code).toBe(0);
});

test('until it ends, the database and world say what was before', async () => {
  const { device, add } = await startSlow(1);

  expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  expect(await device.read('usr/bin/slow')).toBeDefined();

  await add.outcome;
  expect(await stateOf(device)).toEqual({ installed: ['slow-1.0-r1'], world: ['slow'] });
});

test('--wait waits so many seconds', async () => {
  const { device, add } = await startSlow(3);

  expect(await device.apk('--wait', '1', 'add', 'virt')).toEqual({
    code: 99,
    stdout: '',
    stderr: lines(
      'Waiting for repository lock',
      'ERROR: Unable to lock database: Interrupted system call',
      'ERROR: Failed to open apk database: Interrupted system call',
    ),
  });
  expect(await device.apk('--wait', '30', 'add', 'virt')).toMatchObject({
    code: 0,
    stderr: 'Waiting for repository lock\n',
  });

  await add.outcome;
});

test('the kernel names the holder, the file stays', async () => {
  const { device, add } = await startSlow(1);
  const { ino } = await stat(join(device.root, LOCK));

  const locks = await readFile('/proc/locks', 'utf8');
  expect(locks).toMatch(
    new RegExp(`FLOCK +ADVISORY +WRITE ${add.pid} [0-9a-f]+:[0-9a-f]+:${ino} `),
  );

  await add.outcome;
  expect((await stat(join(device.root, LOCK))).ino).toBe(ino);
});

test('flock on the file keeps apk out', async () => {
  const device = await startUpdatedApkDevice();

  expect(
    await runCommand(
      ['flock', join(device.root, LOCK), 'apk', '--root', device.root, 'add', 'virt'],
      { env: device.env },
    ),
  ).toEqual(REFUSED);
});

test('the lock goes with a killed apk, though its script lives on', async () => {
  const { device, add } = await startSlow(2);

  add.signal('SIGKILL');
  await add.exit;

  await mustWork(device, 'add', 'virt');
  await add.outcome;
});
