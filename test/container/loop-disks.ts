import { execFile } from 'node:child_process';
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const command = promisify(execFile);

const MIB = 1024 ** 2;

/** Disks of their own for a test, each a file below a folder. */
export interface LoopDisks {
  /** Makes a disk with a file system, and mounts it. @returns the mount point, `FOLDER/mnt/NAME` */
  readonly make: (name: string, options: { sizeMib: number; type?: 'ext4' | 'btrfs' | 'xfs' | 'vfat' }) => Promise<string>;
  /** Takes the mount away at once, as when the disk is pulled. */
  readonly unmount: (name: string) => Promise<void>;
  readonly mount: (name: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export function createLoopDisks(folder: string): LoopDisks {
  const devices = new Map<string, string>();
  const mountPoint = (name: string): string => join(folder, 'mnt', name);
  const mount = async (name: string): Promise<void> => {
    await command('mount', [devices.get(name) ?? '', mountPoint(name)]);
  };
  const unmount = async (name: string): Promise<void> => {
    await command('umount', ['-l', mountPoint(name)]);
  };
  return {
    mount,
    unmount,
    make: async (name, { sizeMib, type = 'ext4' }) => {
      const file = join(folder, `${name}.img`);
      await mkdir(mountPoint(name), { recursive: true });
      await writeFile(file, '');
      await truncate(file, sizeMib * MIB);
      await command(`mkfs.${type}`, type === 'vfat' ? [file] : ['-q', file]);
      devices.set(name, (await command('losetup', ['-f', '--show', file])).stdout.trim());
      await mount(name);
      return mountPoint(name);
    },
    close: async () => {
      for (const [name, device] of devices) {
        await unmount(name).catch(() => undefined);
        await command('losetup', ['-d', device]).catch(() => undefined);
      }
    },
  };
}

/** Loop disks are root's to make, and not in every container; a real engine needs root, too. */
export async function canMove(): Promise<boolean> {
  const file = join(tmpdir(), `depotd-loop-${process.pid}`);
  try {
    for (const tool of ['dockerd', 'rsync', 'busybox', 'mkfs.ext4', 'mkfs.btrfs', 'mkfs.vfat', 'setfattr']) await command('sh', ['-c', 'command -v "$1"', 'sh', tool]);
    await writeFile(file, Buffer.alloc(MIB));
    const { stdout } = await command('losetup', ['-f', '--show', file]);
    await command('losetup', ['-d', stdout.trim()]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(file, { force: true });
  }
}
