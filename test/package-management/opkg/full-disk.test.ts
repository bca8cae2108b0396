import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { startDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { largePackage } from '../../device/packages/awkward-packages.ts';
import { expectNoRoom, mountDisk, mountedFolder } from '../../features/packages/no-room.ts';
import { openStore } from '../../features/packages/open-store.ts';

const MIB = 1024 ** 2;

describe.skipIf(process.getuid?.() !== 0)('when the disk of the records is full', () => {
  test('lists are fetched into memory, and one that is no good leaves the old one', async () => {
    const device = await createDevice();
    onTestFinished(() => device.close());
    const records = join(device.root, 'etc/depotd');
    await mkdir(records);
    await mountDisk(records, 1);
    const daemon = await startDaemon(device);
    onTestFinished(() => daemon.close());
    const update = async (): Promise<unknown> => {
      const { state, error } = await daemon.finished(await daemon.submit('update'));
      return error ?? state;
    };
    expect(await update()).toBe('done');
    await expect(writeFile(join(records, 'full'), Buffer.alloc(2 * MIB))).rejects.toThrow('ENOSPC');

    device.feed.misbehave('Packages.gz', 'html');
    expect(await update()).toContain('not a package list but a web page');
    expect((await device.opkg('list', 'demo-app')).stdout).toContain('demo-app - 1.0-1');
    device.feed.behave();
    device.publish(2);
    expect(await update()).toBe('done');
    expect((await device.opkg('list', 'demo-app')).stdout).toContain('demo-app - 1.1-1');
    expect(await readdir(join(device.root, 'tmp'))).not.toContainEqual(
      expect.stringContaining('.kept-'),
    );
  });
});

describe.skipIf(process.getuid?.() !== 0)('when room is short', () => {
  test('what is fetched to the same disk counts twice, in the plan and in the job', async () => {
    const directory = join(await mountedFolder(6), 'device');
    await mkdir(directory);
    const store = await openStore({ directory, packages: [largePackage(3 * MIB)] });
    onTestFinished(() => store.close());
    await expectNoRoom(
      store,
      'large',
      /cannot install large: it needs 6\.\d\d MiB, 3\.\d\d MiB of it to fetch it to, and \d\.\d\d MiB are/,
    );
    expect(await store.packages()).toEqual({});

    expect((await store.run('install', { package: 'virt' })).state).toBe('done');
  });
});
