import { join } from 'node:path';
import { readUciOption, setUciOption, type UciPlace } from '../../config/uci-edit.ts';
import { isThere } from '../../device/is-there.ts';
import { editOwnerFile, readSmallFile } from '../../device/owner-file.ts';
import type { Paths } from '../../device/paths.ts';

/** iStore's own options, `istore.istore`, which its page knows. */
export type IstoreSettings = ReturnType<typeof createIstoreSettings>;

const MOST_BYTES = 64 * 1024;

export function createIstoreSettings({ uciDir, onDevice }: Paths) {
  const file = join(uciDir, 'istore');
  return {
    /** @returns undefined if it is not set */
    read: async (option: string): Promise<string | undefined> => {
      const text = (await readSmallFile(file, MOST_BYTES)) ?? '';
      const value = readUciOption(text, placeOf(option));
      return value === undefined ? undefined : Buffer.from(value, 'latin1').toString();
    },
    /** @throws DepotError unavailable, no_space, internal */
    write: (option: string, value: string): Promise<void> =>
      editOwnerFile(file, (text) =>
        setUciOption(text, placeOf(option), Buffer.from(value).toString('latin1')),
      ),
    /** What of the device the page shows buttons for. */
    features: async (): Promise<string[]> => {
      const signs = Object.entries(SIGNS);
      const areThere = await Promise.all(signs.map(([, path]) => isThere(onDevice(path))));
      return signs.flatMap(([name], index) => (areThere[index] === true ? [name] : []));
    },
  };
}

function placeOf(option: string): UciPlace {
  return { section: 'istore', type: 'istore', option };
}

/** Signs of what a device has, by the names that iStore's page knows. */
const SIGNS = {
  docker: '/usr/bin/docker',
  sandbox: '/ext_overlay',
  backup: '/',
  // iStore's page hides the backup to a folder without this file.
  opkg: '/usr/lib/opkg/status',
  'luci-js': '/www/luci-static/resources/luci.js',
};
