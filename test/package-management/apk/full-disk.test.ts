import { mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { createLocations } from '../../../src/package-management/apk/database/apk-locations.ts';
import { createRecordCopy } from '../../../src/package-management/apk/recovery/record-copy.ts';
import { toApkPackage } from '../../device/apk-device/apk-conversion.ts';
import { createApk } from '../../device/apk-device/apk.ts';
import { runCommand } from '../../device/command.ts';
import { largePackage } from '../../device/packages/awkward-packages.ts';
import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { expectNoRoom, mountDisk, mountedFolder } from '../../features/packages/no-room.ts';
import { openApkStore, WORLD, type ApkStore } from './open-store.ts';
import { putAnew } from './put-anew.ts';

const MIB = 1024 ** 2;

/** A device on a disk of its own, with a package of 3 MiB in its feed. */
async function openSmallStore(sizeMiB: number): Promise<{ store: ApkStore; folder: string }> {
  const folder = await mountedFolder(sizeMiB);
  return { store: await openStoreIn(folder, []), folder };
}

async function openStoreIn(folder: string, more: readonly ApkFeedPackage[]): Promise<ApkStore> {
  const packages = [toApkPackage(largePackage(3 * MIB)), ...more];
  const store = await openApkStore({ directory: join(folder, 'device'), packages });
  onTestFinished(() => store.close());
  return store;
}

const STATE = [{}, WORLD];

describe.skipIf(process.getuid?.() !== 0)('when room is short', () => {
  test('a package that does not fit is refused with the bytes, and nothing changes', async () => {
    const { store } = await openSmallStore(4);

    const { state, error } = await store.run('install', { package: 'large' });

    expect([state, error]).toEqual([
      'failed',
      expect.stringMatching(/cannot install large: it needs 3\.\d\d MiB and 1\.00 MiB to spare/),
    ]);
    expect([await store.packages(), await store.device.world()]).toEqual(STATE);
    expect((await store.run('install', { package: 'virt' })).state).toBe('done');
  });

  test('a disk that is full up to the reserve takes no job, and the next one works', async () => {
    const { store, folder } = await openSmallStore(4);
    const filler = join(folder, 'filler');
    await writeFile(filler, Buffer.alloc(8 * MIB)).catch(() => undefined);

    const answer = await store.daemon.post('admin/store/install', { package: 'virt' });
    const { task_id: id } = (await answer.json()) as { task_id?: string };
    if (id !== undefined) expect((await store.daemon.finished(id)).state).toBe('failed');
    expect([await store.packages(), await store.device.world()]).toEqual(STATE);
    // Once, and in no bytes of nothing.
    const plan = await store.daemon.get('admin/store/plan?operation=install&package=virt');
    const { free_after_bytes: after, problems } = (await plan.json()) as {
      free_after_bytes: number;
      problems: { code: string; message: string; missing_bytes?: number }[];
    };
    expect(problems.map(({ code }) => code)).toEqual(['no_space']);
    expect(problems[0]?.message).not.toContain(' 0 B and');
    // What has to go is what the task would ask for, too: apk's reserve is a part of it.
    expect(problems[0]?.missing_bytes).toBeGreaterThanOrEqual(MIB - after);

    await rm(filler);
    expect((await store.run('install', { package: 'virt' })).state).toBe('done');
  });

  test.each([0, 64 * 1024])('with %i bytes free a package can be removed', async (leftBytes) => {
    const { store, folder } = await openSmallStore(8);
    // What is in memory on a device.
    await mountDisk(join(store.device.root, 'tmp'), 8);
    await store.run('install', { package: 'large' });
    await store.recordsCopied();
    const filler = join(folder, 'filler');
    await writeFile(filler, Buffer.alloc(9 * MIB)).catch(() => undefined);
    const { size } = await stat(filler);
    await truncate(filler, size - leftBytes);

    const plan = await store.daemon.get('admin/store/plan?operation=remove&package=large');
    const { state, error } = await store.run('remove', { package: 'large' });

    expect(await plan.json()).toMatchObject({ is_possible: true, problems: [] });
    expect([state, error]).toEqual(['done', undefined]);
    expect([await store.packages(), await store.device.world()]).toEqual(STATE);
    await rm(filler);
    expect((await store.run('install', { package: 'virt' })).state).toBe('done');
  });

  test('what is fetched to the same disk counts twice, in the plan and in the job', async () => {
    const { store } = await openSmallStore(6);
    await expectNoRoom(
      store,
      'large',
      /it needs 6\.\d\d MiB, 3\.\d\d MiB of it to fetch it to, and 1\.00 MiB to spare on the device/,
    );
    expect([await store.packages(), await store.device.world()]).toEqual(STATE);
  });

  test('a dependency for which there is no room fails what needs it', async () => {
    const folder = await mountedFolder(16);
    const files = { '/opt/bulky': { content: Buffer.alloc(3 * MIB, 'bulk') } };
    const bulky = { name: 'bulky', version: '1.0-r1', files };
    const carrier = { name: 'carrier', version: '1.0-r1', depends: ['bulky'] };
    const store = await openStoreIn(folder, [bulky, carrier]);
    const narrow = join(store.device.root, 'opt');
    await mkdir(narrow);
    await mountDisk(narrow, 1);

    const { state, error_code, error } = await store.run('install', { package: 'carrier' });

    expect([state, error_code, error]).toEqual([
      'failed',
      'no_space',
      expect.stringContaining('No space left on device'),
    ]);
    expect([await store.packages(), await store.device.world()]).toEqual(STATE);
  });

  test('a cache that is too small is replaced by the disk until all is installed', async () => {
    const { store } = await openSmallStore(16);
    const cache = join(store.device.root, 'tmp/cache/apk');
    await mountDisk(cache, 1);
    await store.device.apk('update');

    const { state, log } = await store.run('install', { package: 'large' });

    expect([state, log]).toEqual(['done', expect.stringContaining('until they are installed')]);
    expect(await store.packages()).toEqual({ large: '1.0-r1' });
    const left = await runCommand(['find', join(store.device.root, 'etc/depotd/apk/cache')]);
    expect(left.stdout).toBe('');
  });

  test.each(['pre-install', 'post-install'] as const)(
    'a disk that fills up in a %s script, so that apk cannot record: nothing half is left',
    async (script) => {
      const folder = await mountedFolder(16);
      const filler = join(folder, 'filler');
      const filling = {
        name: 'filling',
        version: '1.0-r1',
        files: { '/usr/share/filling/data': 'x'.repeat(64 * 1024) },
        scripts: { [script]: `#!/bin/sh\ncat /dev/zero >'${filler}'\nexit 0\n` },
      };
      const store = await openStoreIn(folder, [filling]);

      const id = await store.daemon.submit('install', { package: 'filling' });
      const { state, error_code } = await store.daemon.finished(id);
      await rm(filler);

      expect([state, error_code]).toEqual(['failed', 'no_space']);
      expect([await store.packages(), await store.device.world()]).toEqual(STATE);
      expect((await store.device.apk('audit', '--system')).stdout).toBe('');
      expect((await store.run('install', { package: 'virt' })).state).toBe('done');
    },
  );
});

test.skipIf(process.getuid?.() !== 0)(
  'a file that is sent counts with what it takes unpacked',
  async () => {
    const { store, folder } = await openSmallStore(8);
    const zeros = { '/usr/share/sent': { content: Buffer.alloc(0.9 * MIB) } };
    const { bytes } = createApk({ name: 'sent', version: '1.0-r1', files: zeros });
    const filler = join(folder, 'filler');
    await writeFile(filler, Buffer.alloc(8 * MIB)).catch(() => undefined);
    const { size } = await stat(filler);
    await truncate(filler, size - 1.5 * MIB);

    const { state, error } = await store.upload(bytes);

    expect(bytes.length).toBeLessThan(0.1 * MIB);
    expect([state, error]).toEqual([
      'failed',
      expect.stringMatching(/it needs 9\d\d\.\d\d KiB and 1\.00 MiB to spare on the device/),
    ]);
    expect([await store.packages(), await store.device.world()]).toEqual(STATE);
  },
);

test.skipIf(process.getuid?.() !== 0)(
  'records on another disk than the daemon are copied',
  async () => {
    const [root, own] = [await mountedFolder(1), await mountedFolder(1)];
    const onDevice = (path: string): string => join(root, path);
    const files = { ...createLocations({ onDevice, stateDir: own } as never), own };
    await mkdir(files.database, { recursive: true });
    const copy = createRecordCopy(files);
    const inode = async (): Promise<number> => (await stat(join(own, 'before/installed'))).ino;
    const sourced = [files.installed, files.plainScripts];
    for (const file of sourced) await putAnew(file, 'before');
    await copy.save();
    const first = await inode();
    await putAnew(files.installed, 'before');
    await copy.save();
    // What is the same is not written once more.
    expect(await inode()).toBe(first);

    for (const file of sourced) await putAnew(file, 'after');

    for (const name of ['installed', 'scripts.tar']) {
      expect(await readFile(join(own, 'before', name), 'utf8')).toBe('before');
    }
  },
);
