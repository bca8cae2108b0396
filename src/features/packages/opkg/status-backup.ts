import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackageDatabase, StatusCopy } from '../package-manager.ts';
import { replaceFile } from '../../../device/durable-file.ts';
import { endsWell, parseStatus } from './status-file.ts';

/**
 * The copy of opkg's status file that is taken before each package job, on flash, since opkg
 * truncates the file in place and a power cut or a full disk in that moment would leave the device
 * with no record of its packages. A copy that is the same is not written again, to spare the flash.
 */
export function createStatusCopy(options: { statusFile: string; copyFile: string }): StatusCopy {
  const { statusFile, copyFile } = options;
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

export function copyFileIn(stateDir: string): string {
  return join(stateDir, 'opkg-status.before');
}
