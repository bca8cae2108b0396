import { afterEach, expect, test } from 'vitest';

import { createApkDevice } from '../../device/apk-device/apk-device.ts';
import { createDevice } from '../../device/device.ts';
import { startBackupDaemon, type BackupDaemon } from './backup-device.ts';

const open: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function startWith(manager: string, hasFeed = true): Promise<BackupDaemon> {
  const device = await (manager === 'apk' ? createApkDevice() : createDevice());
  open.push(device);
  const daemon = await startBackupDaemon(device);
  open.push(daemon);
  if (hasFeed) expect((await daemon.run('update')).state).toBe('done');
  else await device.feed.refuse();
  return daemon;
}

async function packagesOf(daemon: BackupDaemon): Promise<object[]> {
  const asked = 'admin/store/available?kind=package&state=installed&sort=name';
  const { items } = (await (await daemon.get(asked)).json()) as {
    items: { name: string; is_held?: boolean; is_auto?: boolean }[];
  };
  return items
    .filter(({ name }) => name.includes('demo'))
    .map(({ name, is_held = false, is_auto = false }) => ({ name, is_held, is_auto }));
}

test.each<[string, { with_packages?: string }]>([
  ['opkg', {}],
  ['apk', {}],
  ['apk', { with_packages: '1' }],
])('with %s and %o all packages of an app are held again', async (manager, options) => {
  const former = await startWith(manager);
  expect((await former.run('install', { package: 'demo' })).state).toBe('done');
  await former.post('admin/store/hold', { package: 'demo' });
  const held = await packagesOf(former);
  expect(held).toContainEqual({ name: 'demo-app', is_held: true, is_auto: true });
  const { backup = '' } = await former.run('backup', options);
  const daemon = await startWith(manager, options.with_packages === undefined);
  const { body } = await daemon.add(await former.download(backup));

  expect((await daemon.run('restore', { backup: body.id ?? '' })).state).toBe('done');

  await expect.poll(() => packagesOf(daemon)).toEqual(held);
});
