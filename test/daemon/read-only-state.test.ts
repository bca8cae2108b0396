import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { startDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { command } from '../support/loop-disks.ts';

async function deviceWith(folder: string): Promise<[Device, string]> {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const path = join(device.root, folder);
  await mkdir(path, { recursive: true, mode: 0o700 });
  return [device, path];
}

/** What is open for writing stays so, as on a disk that the kernel has cut off. */
async function makeReadOnly(folder: string): Promise<void> {
  await command('mount', ['--bind', folder, folder]);
  onTestFinished(async () => void (await command('umount', ['-l', folder])));
  await command('mount', ['-o', 'remount,bind,ro', folder]);
}

test('a task that finds the state folder read-only says so', async () => {
  const [device, state] = await deviceWith('etc/depotd');
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  // The next task is put on record in the files that this one has made.
  await daemon.finished(await daemon.submit('update'));
  await makeReadOnly(state);

  expect(await daemon.finished(await daemon.submit('update'))).toMatchObject({
    state: 'failed',
    error: `${state} is on a file system that is read-only`,
    error_code: 'not_allowed',
    remedy: expect.stringContaining('mount it writable') as string,
  });
});

test('a daemon whose state folder is read-only says so and ends', async () => {
  const [device, state] = await deviceWith('etc/depotd');
  await makeReadOnly(state);

  await expect(startDaemon(device)).rejects.toThrow(
    `depotd: cannot write job records to ${state}: ${state} is on a file system that is read-only`,
  );
});

test('a daemon whose state folder cannot be made says why and ends', async () => {
  const [device, etc] = await deviceWith('etc');
  await makeReadOnly(etc);

  await expect(startDaemon(device)).rejects.toThrow(
    `depotd: cannot use the folder ${etc}/depotd: ${etc} is on a file system that is read-only`,
  );
});
