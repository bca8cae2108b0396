import { mkdir, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from 'vitest';

import { attach, canLoop, command, detach, emptyImage } from '../support/loop-disks.ts';
import {
  createUploadDevice,
  ipk,
  runFile,
  type UploadDevice,
} from '../features/uploads/upload-device.ts';

/** A file system in a file, with the daemon's state on it and nothing else. */
interface StateDisk {
  on: UploadDevice;
  fill: () => Promise<void>;
  free: () => Promise<void>;
  close: () => Promise<void>;
}

const SIZE_MIB = { ext4: 4, btrfs: 128 };
let disk: StateDisk;

afterEach(() => disk.close());

describe.skipIf(!(await canLoop(['mkfs.ext4', 'mkfs.btrfs'])))(
  'where the file system of main.state_dir is full',
  () => {
    test.each(['ext4', 'btrfs'] as const)(
      'on %s each operation is refused with no_space, and none of them runs when there is room again',
      async (type) => {
        disk = await createStateDisk(type);
        const { daemon, device } = disk.on;
        const effect = `echo ran >>${device.root}/tmp/effects`;
        const before = [...(await device.database())];
        await disk.fill();

        for (const ask of [
          () => daemon.post('admin/store/install', { package: 'virt' }),
          () => daemon.post('admin/store/remove', { package: 'tiny-01' }),
          () => daemon.post('admin/store/update'),
          () => disk.on.send([ipk('demo')]),
          () => disk.on.send([runFile(effect)]),
        ]) {
          const answer = await ask();
          expect(await answer.json()).toMatchObject({
            code: 507,
            stderr: expect.stringContaining('cannot write job records to') as string,
          });
        }
        expect(await tasks()).toEqual([]);
        expect(await disk.on.left()).toEqual([]);
        await disk.free();
        await daemon.restart();

        expect(await tasks()).toEqual([]);
        expect(await disk.on.install(ipk('afterwards'))).toMatchObject({ state: 'done' });
        expect(await tasks()).toHaveLength(1);
        await expect(readFile(join(device.root, 'tmp/effects'))).rejects.toThrow('ENOENT');
        const after = [...(await device.database())].filter(([name]) => name !== 'afterwards');
        expect(after).toEqual(before);
      },
    );
  },
);

async function tasks(): Promise<string[]> {
  const answer = await disk.on.daemon.get('admin/system/tasks/status');
  return Object.keys((await answer.json()) as Record<string, unknown>);
}

async function createStateDisk(type: keyof typeof SIZE_MIB): Promise<StateDisk> {
  const on = await createUploadDevice();
  await on.daemon.close();
  const folder = join(on.device.root, 'etc/depotd');
  const image = `${on.device.root}/state.img`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  await emptyImage(image, SIZE_MIB[type]);
  await command(`mkfs.${type}`, ['-q', image]);
  const device = await attach(image);
  await command('mount', [device, folder]);
  await command('chmod', ['700', folder]);
  await on.daemon.restart();
  const filler = join(folder, 'filler');
  return {
    on,
    fill: async () => {
      // ext4 and btrfs find some more when they have written what they had.
      for (let [before, now] = [-1, 0]; now > before; now = (await stat(filler)).size) {
        before = now;
        for (const bytes of [1024 ** 2, 4096, 512]) while (await append(filler, bytes));
        await command('sync', ['-f', folder]);
      }
      expect((await statfs(folder)).bavail).toBe(0);
    },
    free: () => rm(filler),
    close: async () => {
      await on.daemon.close();
      await command('umount', ['-l', folder]);
      await detach(device);
      await on.close();
    },
  };
}

function append(file: string, bytes: number): Promise<boolean> {
  return writeFile(file, Buffer.alloc(bytes, 'x'), { flag: 'a' }).then(
    () => true,
    () => false,
  );
}
