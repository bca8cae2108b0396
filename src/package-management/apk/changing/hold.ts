import * as v from 'valibot';
import type { Notes } from '../../../device/ports.ts';
import { isPresent, type PackageDatabase } from '../../database.ts';
import { isNeeded } from '../../dependencies.ts';
import type { PackageManager } from '../../manager.ts';
import { editWorld, pinned, withoutPin } from '../database/world-edit.ts';
import { isHashPin, isPin, readWorld, type WorldEntry } from '../database/world.ts';
import type { Installation } from '../installation.ts';
import { readHashes } from '../database/installed-db.ts';
import { queryFeeds } from '../feeds/apk-query.ts';

/** Held packages that came as dependencies: world, where a hold is a line, cannot tell. */
const NOTE = 'held-dependencies';

/**
 * apk's own hold is a line in world that a newer version does not meet: a version, or the hash of a
 * package file, which an installation of such a file leaves there.
 */
export function createHold(
  { locations, reader, environment }: Installation,
  notes: Notes,
): PackageManager['setHold'] {
  const note = async (name: string, isNoted: boolean): Promise<void> => {
    const known = await readNoted(notes);
    if (known.includes(name) === isNoted) return;
    const others = known.filter((other) => other !== name);
    await notes.write(NOTE, isNoted ? [...others, name] : others);
  };
  return async (name, { isHeld, isAuto: wasAuto }) => {
    const database = await reader.read();
    const found = database.get(name);
    if (!isHeld) {
      // What nothing needs any more stays asked for, or the next change would remove it.
      const isUnneeded = isPresent(found) && !isNeeded(database, found, new Set());
      const isDependency = wasAuto ?? (!isUnneeded && (await readNoted(notes)).includes(name));
      await editWorld(locations, environment, (entries) =>
        entries.flatMap((entry) => {
          if (entry.name !== name || !isPin(entry)) return [entry];
          return isDependency ? [] : [withoutPin(entry)];
        }),
      );
      await note(name, false);
      return;
    }
    // A package that is held already: its line in world hides whether it came as a dependency.
    if (found?.isHeld === true) return;
    const { version = '', isAuto = false } = found ?? {};
    await note(name, isAuto);
    await editWorld(locations, environment, (entries) => {
      const own = entries.find((entry) => entry.name === name && !entry.isConflict);
      if (own !== undefined && isPin(own)) return entries;
      const held = pinned(own ?? { name, tag: '' }, version);
      return [...entries.filter((entry) => entry !== own), held];
    });
  };
}

async function readNoted(notes: Notes): Promise<string[]> {
  return v.parse(v.fallback(v.array(v.string()), []), await notes.read(NOTE));
}

/** What came as a dependency is one while it is held, too, and goes with its app. */
export async function markHeldDependencies(
  database: PackageDatabase,
  notes: Notes,
): Promise<PackageDatabase> {
  const held = [...database.values()].filter(({ isHeld }) => isHeld === true);
  const noted = held.length === 0 ? [] : await readNoted(notes);
  const marked = held.filter(({ name }) => noted.includes(name));
  if (marked.length === 0) return database;
  const asDependencies = marked.map((entry) => [entry.name, { ...entry, isAuto: true }] as const);
  return new Map([...database, ...asDependencies]);
}

const OWN = /^(?:depotd(?:-node|-keyring)?|luci-(?:app|i18n)-depotd(?:-[a-z-]+)?)$/;

/**
 * Whoever installed depotd from a file has its hash in world, and no feed would ever upgrade it
 * again. A version that the owner chose stays.
 */
export async function dropOwnPins({ locations, environment }: Installation): Promise<void> {
  const { entries } = await readWorld(locations.world);
  // Without a pin to drop nothing is edited: another apk would find the lock held and give up.
  if (!entries.some(isOwnPin)) return;
  await editWorld(locations, environment, (current) =>
    current.map((entry) => (isOwnPin(entry) ? withoutPin(entry) : entry)),
  );
}

function isOwnPin(entry: WorldEntry): boolean {
  return OWN.test(entry.name) && isHashPin(entry);
}

/** How apk calls its own record where it says which repositories have a build. */
const RECORD = 'lib/apk/db/installed';

/**
 * What world binds to one file by its hash. apk prints no hash of what feeds have, but it knows two
 * builds of a version from each other: of the one that is installed it names each feed that has it.
 */
export async function findHashPins({ locations, commands }: Installation) {
  const pins = (await readWorld(locations.world)).entries.filter(isHashPin);
  if (pins.length === 0) return [];
  const hashes = await readHashes(locations.installed);
  const offered = new Set<string>();
  await queryFeeds(commands, {
    names: pins.map(({ name }) => name),
    fields: 'name,repositories',
    from: 'system',
    onPackage: ({ name, repositories }) => {
      if (repositories.includes(RECORD) && repositories.length > 1) offered.add(name);
      return true;
    },
  });
  return pins.map(({ name, version }) => ({
    name,
    isOffered: hashes.get(name) === version && offered.has(name),
  }));
}
