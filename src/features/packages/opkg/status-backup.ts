import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackageDatabase } from '../package-database.ts';
import { replaceFile } from '../../../device/durable-file.ts';
import { endsWell, parseStatus } from './status-file.ts';

/** The self-upgrade's watcher knows the name, too. */
export const COPY_NAME = 'opkg-status.before';

/** The copy of the status file that is taken before each package job. */
export interface StatusCopy {
  save: () => Promise<void>;
  /** The database as it was when saved; undefined if nothing was saved. */
  read: () => Promise<PackageDatabase | undefined>;
  /** Whether the status file in use can be read to its end. */
  isIntact: () => Promise<boolean>;
  restore: () => Promise<void>;
}

/**
 * The copy of opkg's status file that is taken before each package job, on flash, since opkg
 * truncates the file in place and a power cut or a full disk in that moment would leave the device
 * with no record of its packages. A copy that is the same is not written again, to spare the flash.
 */
export function createStatusCopy(statusFile: string, stateDir: string): StatusCopy {
  const copyFile = join(stateDir, COPY_NAME);
  const readCopy = (): Promise<string | undefined> =>
    readFile(copyFile, 'utf8').catch(() => undefined);
  /** A job asks twice for what was before it. */
  let parsed: { text: string; packages: PackageDatabase } | undefined;
  return {
    save: async () => {
      const text = await readFile(statusFile, 'utf8').catch(() => '');
      // A damaged file is no use as a copy; the last good one stays.
      if ((text === '' || endsWell(text)) && text !== (await readCopy())) {
        await replaceFile(copyFile, text);
      }
    },
    read: async () => {
      const text = await readCopy();
      if (text === undefined) return undefined;
      if (parsed?.text !== text) parsed = { text, packages: parseStatus(text) };
      return parsed.packages;
    },
    isIntact: async () => {
      const text = await readFile(statusFile, 'utf8').catch(() => '');
      return text === '' ? ((await readCopy()) ?? '') === '' : endsWell(text);
    },
    restore: async () => {
      const text = await readCopy();
      if (text === undefined) return;
      const mode = await stat(statusFile).then(
        (entry) => entry.mode & 0o777,
        () => 0o644,
      );
      await replaceFile(statusFile, text, mode);
    },
  };
}
