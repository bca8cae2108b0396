import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readlink, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { startBackupDaemon, writeConfiguration, type BackupDaemon } from './backup-device.ts';

let device: Device;
let daemon: BackupDaemon;

beforeEach(async () => {
  device = await createDevice();
  await writeConfiguration(device.root);
  daemon = await startBackupDaemon(device);
});
afterEach(async () => {
  await daemon.close();
  await device.close();
});

test('a backup that nobody could bring back is not made, and why is said', async () => {
  await writeFile(join(device.root, 'root/scripts/large'), Buffer.alloc(65 * 1024 ** 2));

  const { state, error } = await daemon.run('backup');

  expect({ state, error }).toEqual({
    state: 'failed',
    error: 'cannot write the backup: its configuration is too large',
  });
  expect(await readdir(join(device.root, 'etc/depotd/backups'))).toEqual([]);
});

test('a file that no backup could have is not read for one, however large it is', async () => {
  await daemon.run('update');
  await daemon.run('install', { package: 'demo' });
  await writeFile(join(device.root, 'root/scripts/large'), '');
  await truncate(join(device.root, 'root/scripts/large'), 2 ** 40);

  expect(await daemon.run('backup')).toMatchObject({
    error: 'cannot write the backup: its configuration is too large',
  });
  // Ahead of it comes a backup, too.
  expect((await daemon.run('remove', { package: 'demo' })).state).toBe('done');
});

test('what somebody put in the place of a configuration file is waited for by no backup', async () => {
  await daemon.run('update');
  await daemon.run('install', { package: 'demo' });
  const file = join(device.root, 'etc/config/demo-app');
  await rm(file);
  await runCommand(['mkfifo', file]);

  expect((await daemon.run('backup')).state).toBe('done');
  expect((await daemon.get('admin/system/doctor')).status).toBe(200);
});

test('a backup leaves out a file whose path no set can have', async () => {
  let folder = join(device.root, 'root/scripts');
  for (let count = 0; count < 6; count += 1) folder = join(folder, 'x'.repeat(200));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'deep'), '');

  const { backup } = await daemon.run('backup');

  expect((await daemon.backups()).map(({ id }) => id)).toEqual([backup]);
});

test('one that was made ahead of the right time is not taken for one of years ago, nor for the oldest', async () => {
  await daemon.run('update');
  await daemon.run('install', { package: 'demo' });
  await daemon.run('remove', { package: 'demo' });
  const folder = join(device.root, 'etc/depotd/backups');
  const [early = ''] = await readdir(folder);
  await utimes(join(folder, early), 300, 300);
  await daemon.run('install', { package: 'demo' });
  await daemon.run('remove', { package: 'demo' });
  expect(await readdir(folder)).toContain(early);

  for (let round = 0; round < 9; round += 1) {
    await daemon.run('install', { package: 'demo' });
    await daemon.run('remove', { package: 'demo' });
  }
  const future = Math.floor(Date.now() / 1000) + 86_400;
  for (const name of await readdir(folder)) await utimes(join(folder, name), future, future);
  await daemon.run('install', { package: 'demo' });
  const id = await daemon.submit('remove', { package: 'demo' });
  await daemon.finished(id);

  const kept = await readdir(folder);
  expect(kept).toHaveLength(10);
  expect(kept).toContain(`${id}.tar.gz`);
}, 120_000);

test('whoever asks for the size of a backup alone leaves no file of it open', async () => {
  await writeFile(join(device.root, 'root/scripts/large'), randomBytes(1024 ** 2));
  const { backup = '' } = await daemon.run('backup');
  const address = `${daemon.url}${daemon.base}/admin/store/backup_file?id=${backup}`;
  const openSets = async (): Promise<string[]> => {
    const folder = `/proc/${daemon.pid}/fd`;
    const links = (await readdir(folder)).map((name) => readlink(join(folder, name)));
    const targets = await Promise.allSettled(links);
    return targets.flatMap((found) => (found.status === 'fulfilled' ? [found.value] : []));
  };

  for (let asked = 0; asked < 5; asked += 1) {
    expect((await fetch(address, { method: 'HEAD' })).headers.get('content-length')).not.toBe('0');
  }

  expect((await openSets()).filter((path) => path.endsWith('.tar.gz'))).toEqual([]);
  expect((await daemon.download(backup)).length).toBeGreaterThan(0);
});
