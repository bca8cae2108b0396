import { chmod, chown, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { createDevice } from '../../device/device.ts';
import { startBackupDaemon, writeConfiguration } from './backup-device.ts';

const NOBODY = 65_534;

/** A device whose owner once had a backup written to a folder below /tmp. */
async function openDevice() {
  const device = await createDevice();
  onTestFinished(() => device.close());
  await writeConfiguration(device.root);
  const folder = join(device.root, 'tmp/backups');
  await mkdir(folder);
  await chmod(join(device.root, 'tmp'), 0o1777);
  const daemon = await startBackupDaemon(device);
  onTestFinished(() => daemon.close());
  const { backup = '' } = await daemon.run('backup', { path: '/tmp/backups' });
  return { daemon, folder, backup, file: join(folder, `depotd-backup-${backup}.tar.gz`) };
}

test('a backup in a folder that is another user\u2019s by now is nobody\u2019s backup', async () => {
  const { daemon, folder, backup } = await openDevice();
  expect(await daemon.backups()).toMatchObject([{ id: backup }]);
  await rename(folder, `${folder}.before`);
  await mkdir(folder);
  await rename(
    join(`${folder}.before`, `depotd-backup-${backup}.tar.gz`),
    join(folder, `depotd-backup-${backup}.tar.gz`),
  );
  await chown(folder, NOBODY, NOBODY);

  expect(await daemon.backups()).toEqual([]);
  expect((await daemon.post('admin/store/restore', { backup })).status).toBe(404);
  expect(daemon.log.join('\n')).toContain(`belongs to the user ${NOBODY}`);
});

test('so is a file of another user in a folder that everybody may write', async () => {
  const { daemon, folder, backup, file } = await openDevice();
  await chmod(folder, 0o1777);
  expect(await daemon.backups()).toMatchObject([{ id: backup }]);
  await chown(file, NOBODY, NOBODY);

  expect(await daemon.backups()).toEqual([]);
});
