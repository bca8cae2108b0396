import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Notes } from '../../../device/ports.ts';
import { isPresent, type PackageDatabase } from '../../database.ts';
import type { Remembering } from '../../../jobs/memory.ts';
import { transactionSlots } from '../../transaction-slots.ts';
import { editStatus, packageIn } from '../database/status-file.ts';
import { byName, ownValue } from '../../names.ts';

/** The packages whose files a power cut damaged, until they are installed anew or gone. */
export type Damaged = Awaited<ReturnType<typeof createDamaged>>;

const NOTE = 'damaged-packages';
/** By name the change time of the control file that it has, in milliseconds; 0: it has none. */
const noted = v.fallback(byName(v.number()), {});

export async function createDamaged(notes: Notes, infoDir: string) {
  let known: Readonly<Record<string, number>> = v.parse(noted, await notes.read(NOTE));
  const write = async (next: Readonly<Record<string, number>>): Promise<void> => {
    if (JSON.stringify(next) === JSON.stringify(known)) return;
    await notes.write(NOTE, next);
    known = next;
  };
  const controlTime = async (name: string): Promise<number> =>
    (await stat(join(infoDir, `${name}.control`)).catch(() => undefined))?.ctimeMs ?? 0;
  return {
    /** The database with the mark on each of them. */
    mark: (database: PackageDatabase): PackageDatabase => {
      const there = Object.keys(known)
        .map((name) => database.get(name))
        .filter(isPresent);
      if (there.length === 0) return database;
      const marked = there.map((entry) => [entry.name, { ...entry, isDamaged: true }] as const);
      return new Map([...database, ...marked]);
    },
    /** Those of these packages that are damaged. */
    among: (names: readonly string[]): string[] =>
      names.filter((name) => Object.hasOwn(known, name)),
    add: async (names: readonly string[]): Promise<void> => {
      const times = await Promise.all(
        names.map(async (name) => [name, await controlTime(name)] as const),
      );
      await write({ ...known, ...Object.fromEntries(times) });
    },
    /** What was installed anew since, or is gone, is damaged no more. */
    update: async (database: PackageDatabase): Promise<void> => {
      const next: Record<string, number> = {};
      for (const [name, time] of Object.entries(known)) {
        const isThere = isPresent(database.get(name));
        if (isThere && (await controlTime(name)) === time) next[name] = time;
      }
      await write(next);
    },
  };
}

/**
 * opkg calls a damaged package up to date, and made to install it again (`--force-reinstall`)
 * removes it before it has fetched it. For as long as its command runs the record has a version
 * below every other: opkg then upgrades it, which fetches first.
 */
const LOWEST = '0';

/** The true versions, by name. */
const kept = transactionSlots('the versions', {
  lowered: v.optional(byName(v.string()), {}),
});

/** Keeps the true versions in the job. While nobody else writes the record. */
export async function lowerVersions(
  statusFile: string,
  context: Remembering,
  names: readonly string[],
): Promise<void> {
  const lowered: Record<string, string> = {};
  await editVersions(statusFile, (name, version) => {
    if (!names.includes(name) || version === LOWEST) return version;
    lowered[name] = version;
    return LOWEST;
  });
  kept.write(context, { lowered: { ...kept.read(context).lowered, ...lowered } });
}

/** Puts true versions back where opkg left the lowered ones; safe to be called again. */
export async function restoreVersions(statusFile: string, context: Remembering): Promise<void> {
  const { lowered } = kept.read(context);
  if (Object.keys(lowered).length === 0) return;
  await editVersions(statusFile, (name, version) =>
    version === LOWEST ? (ownValue(lowered, name) ?? version) : version,
  );
}

async function editVersions(statusFile: string, edit: (name: string, version: string) => string) {
  await editStatus(statusFile, (paragraph) =>
    paragraph.replace(
      /^Version: (.*)$/m,
      (_, version: string) => `Version: ${edit(packageIn(paragraph), version)}`,
    ),
  );
}
