import { readdirSync, readlinkSync } from 'node:fs';

/** Files below a folder that this process has open. */
export function openFiles(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      // That of the reading itself.
      return [];
    }
  });
}
