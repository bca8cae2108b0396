import { createSequence } from '../../../device/concurrency-limit.ts';
import { fileVersionSync } from '../../../device/file-version.ts';
import { appOf } from '../../names.ts';
import { knownByVersion, type InstalledPackage, type PackageDatabase } from '../../database.ts';
import { installTime } from './install-time.ts';
import { readInstalled, type InstalledRecord } from './installed-db.ts';
import type { Locations } from './apk-locations.ts';
import { damagedRecord } from './record-file.ts';
import { isPin, readWorld, type WorldEntry } from './world.ts';

/**
 * apk's record of what is installed, read without apk and without its lock. Invariants:
 *  - apk replaces the file by rename, so a reading is whole or refused;
 *  - a file that is not touched is not parsed again;
 *  - one reading at a time: a caller that comes after a change gets a reading that began after it.
 */
export type DatabaseReader = ReturnType<typeof createDatabaseReader>;

export function createDatabaseReader(locations: Locations) {
  const { installed, world } = locations;
  let records: { version: string; found: Map<string, InstalledRecord> } | undefined;
  let entries: readonly WorldEntry[] = [];
  let view: { version: string; packages: PackageDatabase } | undefined;
  const inTurn = createSequence();

  const readRecords = async (): Promise<Map<string, InstalledRecord>> => {
    const version = fileVersionSync(installed) ?? 'absent';
    if (records?.version !== version) {
      const found = await readInstalled(installed);
      if (found.size === 0) throw damagedRecord(`cannot use ${installed}: it has no packages`);
      records = { version, found };
    }
    return records.found;
  };
  const readView = async (): Promise<PackageDatabase> => {
    const found = await readRecords();
    const version = `${records?.version ?? ''} ${fileVersionSync(world) ?? ''}`;
    if (view?.version !== version) {
      entries = await readWorld(world).then(
        (read) => read.entries,
        () => entries,
      );
      view = { version, packages: await combine(found, entries, locations) };
    }
    return view.packages;
  };
  return {
    /**
     * While world cannot be read, what it said last counts.
     * @throws DepotError unavailable if the record is damaged
     */
    read: (): Promise<PackageDatabase> => inTurn(readView),
    /** The record of each installed package as apk has it. @throws DepotError unavailable */
    records: (): Promise<ReadonlyMap<string, InstalledRecord>> => inTurn(readRecords),
  };
}

/** Puts together what is installed and what the owner asked for. */
export async function combine(
  found: ReadonlyMap<string, InstalledRecord>,
  entries: readonly WorldEntry[],
  { packages }: Locations,
): Promise<PackageDatabase> {
  const wanted = new Map(
    entries.filter(({ isConflict }) => !isConflict).map((entry) => [entry.name, entry]),
  );
  const database = new Map<string, InstalledPackage>();
  const askedAs = otherNames(found, wanted);
  for (const record of found.values()) {
    const names = askedAs.get(record.name);
    // Only apps show a time: of all packages it would be thousands of files.
    database.set(record.name, {
      ...packageOf(record, wanted),
      ...(names === undefined ? {} : { askedAs: names }),
      installedAt: appOf(record.name).isApp ? await installTime(packages, record.name) : 0,
    });
  }
  for (const name of unmet(wanted, found)) {
    database.set(name, knownByVersion(name, { version: '', state: 'requested' }));
  }
  return database;
}

/** By package: all names in world that it alone stands for, if another than its own is there. */
function otherNames(
  found: ReadonlyMap<string, InstalledRecord>,
  wanted: ReadonlyMap<string, WorldEntry>,
): Map<string, string[]> {
  const providers = new Map<string, string[]>();
  for (const { name, provides } of found.values()) {
    for (const provided of provides) {
      if (!wanted.has(provided) || found.has(provided)) continue;
      providers.set(provided, [...(providers.get(provided) ?? []), name]);
    }
  }
  const names = new Map<string, string[]>();
  for (const [provided, [name = '', ...others]] of providers) {
    if (others.length > 0) continue;
    const own = wanted.has(name) ? [name] : [];
    names.set(name, [...(names.get(name) ?? own), provided]);
  }
  return names;
}

function packageOf(
  record: InstalledRecord,
  wanted: ReadonlyMap<string, WorldEntry>,
): InstalledPackage {
  const { name, version, architecture, depends, provides, installIf } = record;
  const entry = wanted.get(name);
  return {
    name,
    version,
    architecture,
    // A broken package: its files are there as far as they could be written; it may not work.
    state: record.hasBrokenFiles || record.hasBrokenScript ? 'unpacked' : 'installed',
    isAuto: ![name, ...provides].some((known) => wanted.has(known)),
    isEssential: isEssential(name),
    ...(entry !== undefined && isPin(entry) ? { isHeld: true } : {}),
    depends: depends.map((dependency) => [dependency]),
    ...(installIf.length === 0 ? {} : { comesWith: installIf }),
    provides,
    installedAt: 0,
  };
}

/** What world asks for and no package is or provides; apk refuses every change until it is gone. */
function unmet(
  wanted: ReadonlyMap<string, WorldEntry>,
  found: ReadonlyMap<string, InstalledRecord>,
): string[] {
  const provided = new Set([...found.values()].flatMap(({ provides }) => provides));
  return [...wanted.keys()].filter((name) => !found.has(name) && !provided.has(name));
}

/**
 * apk knows no essential packages. These are the ones without which a device cannot start, log in
 * its owner or install anything; what they depend on is needed by them.
 */
const ESSENTIAL =
  /^(?:apk(?:-.*)?|base-files|busybox|fstools|kernel|libc|mtd|netifd|procd|ubox|ubus|ubusd|uci)$/;

export function isEssential(name: string): boolean {
  return ESSENTIAL.test(name);
}
