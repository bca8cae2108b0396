import * as v from 'valibot';
import type { InstalledPackage, PackageDatabase } from './package-manager.ts';
import type { Notes } from '../../device/ports.ts';
import { isPresent } from './catalog.ts';

/**
 * Remembers which packages came as dependencies. opkg drops its own mark (`Auto-Installed`) when a
 * package is upgraded by name, and then would never clean the package up. A package counts while
 * its Installed-Time is the one that was noted: whoever installs it by hand afterwards wants to
 * keep it.
 */
export interface AutoInstalled {
  /** Tells of each package whether it came as a dependency. */
  marks: () => Promise<(entry: InstalledPackage) => boolean>;
  /** Takes over what one of the daemon's own jobs changed. */
  update: (before: PackageDatabase, after: PackageDatabase) => Promise<void>;
}

const NOTE = 'auto-installed';
const noted = v.record(v.string(), v.number());

export function createAutoInstalled(notes: Notes): AutoInstalled {
  const read = async (): Promise<Record<string, number>> => {
    const result = v.safeParse(noted, await notes.read(NOTE));
    return result.success ? result.output : {};
  };
  const isMarked = (known: Record<string, number>, entry: InstalledPackage): boolean =>
    entry.isAuto || known[entry.name] === entry.installedAt;
  return {
    marks: async () => {
      const known = await read();
      return (entry) => isMarked(known, entry);
    },
    update: async (before, after) => {
      const known = await read();
      const next: Record<string, number> = {};
      for (const entry of after.values()) {
        const previous = before.get(entry.name);
        const wasMarked =
          previous !== undefined && isPresent(previous) && isMarked(known, previous);
        // What opkg marks itself needs no note until it loses the mark.
        if (isPresent(entry) && !entry.isAuto && wasMarked) next[entry.name] = entry.installedAt;
      }
      if (JSON.stringify(next) !== JSON.stringify(known)) await notes.write(NOTE, next);
    },
  };
}
