import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { attach, command, emptyImage } from '../../support/loop-disks.ts';

/** Disks of their own for a test, each a file below a folder. */
export interface LoopDisks {
  /** Makes a disk with a file system, and mounts it. @returns the mount point, `FOLDER/mnt/NAME` */
  readonly make: (
    name: string,
    options: { sizeMib: number; type?: 'ext4' | 'btrfs' | 'xfs' | 'vfat' },
  ) => Promise<string>;
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
      await emptyImage(file, sizeMib);
      await command(`mkfs.${type}`, type === 'vfat' ? [file] : ['-q', file]);
      devices.set(name, await attach(file));
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
