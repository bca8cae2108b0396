import { constants } from 'node:fs';
import { join } from 'node:path';
import { isThere } from '../../../device/is-there.ts';
import type { DeviceCheck } from '../../device-check.ts';

/** Programs that the daemon can do without, and what does not work then. */
const TOOLS: Readonly<Record<string, string>> = {
  lsblk: 'disks are listed without labels and without what stands behind a RAID',
  blkid: 'what is on a disk is asked of `block` alone, or is not known',
  rsync: 'the data of containers cannot be moved',
  script: "a task's log comes in blocks, and not line by line",
  flock: 'two daemons that start at once are not kept apart, and changes with apk fail',
  wget: 'feeds cannot be added, and packages not be fetched',
  tar: 'with opkg, an upgrade of depotd itself cannot be taken back',
};
const PACKAGES: Readonly<Record<string, string>> = {
  script: 'script-utils',
  wget: 'uclient-fetch',
};

/** @param path the variable PATH of the programs that the daemon runs */
export function toolsCheck(path: string): DeviceCheck {
  return {
    id: 'tools',
    run: async () => {
      const folders = path.split(':').filter((folder) => folder !== '');
      const names = Object.keys(TOOLS);
      const found = await Promise.all(names.map((name) => isIn(folders, name)));
      const missing = names.filter((_, index) => found[index] !== true);
      if (missing.length === 0) {
        return { state: 'ok', message: `all programs are there: ${names.join(', ')}` };
      }
      const packages = missing.map((name) => PACKAGES[name] ?? name);
      const message = missing.map((name) => `without ${name}: ${TOOLS[name] ?? ''}`).join('; ');
      return { state: 'warning', message, remedy: `install ${packages.join(', ')}` };
    },
  };
}

async function isIn(folders: readonly string[], name: string): Promise<boolean> {
  for (const folder of folders) {
    if (await isThere(join(folder, name), constants.X_OK)) return true;
  }
  return false;
}
