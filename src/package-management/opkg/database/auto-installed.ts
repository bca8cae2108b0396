import * as v from 'valibot';
import type { Notes } from '../../../device/ports.ts';
import { isPresent, type InstalledPackage, type PackageDatabase } from '../../database.ts';
import { byName } from '../../names.ts';

/**
 * Remembers which packages came as dependencies. opkg drops its own mark (`Auto-Installed`) when a
 * package is upgraded by name, and then never cleans it up. A package counts while its
 * Installed-Time is the one noted: whoever installs it by hand afterwards wants to keep it.
 */
export type AutoInstalled = ReturnType<typeof createAutoInstalled>;

const NOTE = 'auto-installed';
/** Installed-Time by package. */
const noted = v.fallback(byName(v.number()), {});
type Noted = v.InferOutput<typeof noted>;

export function createAutoInstalled(notes: Notes) {
  const read = async (): Promise<Noted> => v.parse(noted, await notes.read(NOTE));
  return {
    /** The database with the marks that opkg has dropped. */
    restoreMarks: async (database: PackageDatabase): Promise<PackageDatabase> => {
      const known = await read();
      const lost = [...database.values()].filter(
        (entry) => !entry.isAuto && known[entry.name] === entry.installedAt,
      );
      if (lost.length === 0) return database;
      const marked = lost.map((entry) => [entry.name, { ...entry, isAuto: true }] as const);
      return new Map([...database, ...marked]);
    },
    /** Takes over what one of the daemon's own jobs changed; safe to be called again. */
    update: async (before: PackageDatabase, after: PackageDatabase): Promise<void> => {
      const known = await read();
      const next: Noted = {};
      for (const entry of after.values()) {
        // What opkg marks itself needs no note until it loses the mark.
        if (entry.isAuto || !isPresent(entry)) continue;
        const isKnown = known[entry.name] === entry.installedAt;
        const isMarked = isKnown || wasMarked(known, before.get(entry.name));
        if (isMarked) next[entry.name] = entry.installedAt;
      }
      if (JSON.stringify(next) !== JSON.stringify(known)) await notes.write(NOTE, next);
    },
    /** The package is no dependency any more: its owner has asked for it by name. */
    forget: async (name: string): Promise<void> => {
      const { [name]: isKnown, ...others } = await read();
      if (isKnown !== undefined) await notes.write(NOTE, others);
    },
  };
}

function wasMarked(known: Noted, before: InstalledPackage | undefined): boolean {
  return isPresent(before) && (before.isAuto || known[before.name] === before.installedAt);
}
