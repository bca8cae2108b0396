import { join } from 'node:path';
import type { Paths } from '../../device/paths.ts';
import { openPrivateFolder } from '../../device/private-folder.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import {
  createKeptPackages,
  type KeptPackages,
} from '../../package-management/transaction/kept-packages.ts';

/** A quarter of the memory that is free at most: an upgrade works without copies, too. */
const SHARE = 0.25;
const MOST_BYTES = 64 * 1024 ** 2;

/**
 * Copies of what an upgrade replaces, until it has ended, in the folder of uploads: in memory on
 * most devices. If somebody else made a folder of that name, in /tmp, nothing of it is used.
 */
export function createUpgradeCopies(manager: PackageManager, paths: Paths): KeptPackages {
  const room = (): number => Math.min(MOST_BYTES, process.availableMemory() * SHARE);
  const copies = createKeptPackages(join(paths.uploadDir, 'kept'), { manager, paths, room });
  const isOurs = async (isMade: boolean): Promise<boolean> => {
    try {
      await (await openPrivateFolder(paths.uploadDir, { isMade })).close();
      return true;
    } catch (error) {
      if (isMade) throw error;
      return false;
    }
  };
  return {
    begin: async (key) => {
      await isOurs(true);
      await copies.begin(key);
    },
    keep: copies.keep,
    find: async (key) => ((await isOurs(false)) ? copies.find(key) : new Map()),
    forget: async () => {
      if (await isOurs(false)) await copies.forget();
    },
  };
}
