import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeviceCheck } from '../../device-check.ts';
import { timeText } from '../../../format-time.ts';

/** No device that can run this daemon was made before it: 2024-01-01. */
const EARLIEST_MS = 1_704_067_200_000;
/** A file may be younger than now by so much: other machines write to shared disks, too. */
const TOLERANCE_MS = 60_000;
const MOST_FILES = 500;

/** A router without a battery wakes in the past, in which certificates are not valid. */
export function clockCheck(folders: readonly string[], now: () => number = Date.now): DeviceCheck {
  return {
    id: 'clock',
    run: async () => {
      const today = timeText(now());
      const remedy = 'set the time: `ntpd -q -p pool.ntp.org`, or in LuCI under System';
      if (now() < EARLIEST_MS) {
        return { state: 'error', message: `the clock says ${today}, which is long ago`, remedy };
      }
      const newest = await newestIn(folders);
      if (newest !== undefined && newest.changedAt > now() + TOLERANCE_MS) {
        const written = timeText(newest.changedAt);
        const message = `the clock says ${today}, but ${newest.path} was written at ${written}`;
        return { state: 'warning', message, remedy };
      }
      return { state: 'ok', message: `the clock says ${today}` };
    },
  };
}

async function newestIn(
  folders: readonly string[],
): Promise<{ path: string; changedAt: number } | undefined> {
  let newest: { path: string; changedAt: number } | undefined;
  for (const folder of new Set(folders)) {
    const names = (await readdir(folder).catch(() => [])).slice(0, MOST_FILES);
    for (const path of names.map((name) => join(folder, name))) {
      const entry = await stat(path).catch(() => undefined);
      if (entry?.isFile() !== true) continue;
      if (newest === undefined || entry.mtimeMs > newest.changedAt) {
        newest = { path, changedAt: entry.mtimeMs };
      }
    }
  }
  return newest;
}
