import { rewriteFile } from '../../../device/durable-file.ts';
import type { Remembering } from '../../../jobs/memory.ts';
import { isPresent } from '../../database.ts';
import { chosen } from '../../transaction-slots.ts';
import { compareTexts } from '../compare-versions.ts';
import type { Installation } from '../installation.ts';
import type { Locations } from './apk-locations.ts';
import { withLock } from '../changing/lock.ts';
import { formatWorld, isPin, readWorld, type WorldEntry } from './world.ts';

/** Changes world while no apk can: it reads it when it begins and writes it when it ends. */
export async function editWorld(
  { lock, world }: Locations,
  environment: Record<string, string>,
  edit: (entries: readonly WorldEntry[]) => readonly WorldEntry[],
): Promise<void> {
  await withLock(lock, environment, async () => {
    const { entries } = await readWorld(world);
    const next = edit(entries);
    const isSame =
      next.length === entries.length && next.every((entry, index) => entry === entries[index]);
    // An empty world is not written: apk would remove the system.
    if (isSame || next.length === 0) return;
    const sorted = next.toSorted((one, other) => compareTexts(one.name, other.name));
    await rewriteFile(world, formatWorld(sorted));
  });
}

/** The line of a package that is kept at a version. */
export function pinned({ name, tag }: Pick<WorldEntry, 'name' | 'tag'>, version: string) {
  const operator = version === '' ? '' : '=';
  const text = `${name}${tag === '' ? '' : `@${tag}`}${operator}${version}`;
  return { name, text, isConflict: false, tag, operator, version };
}

/** The name alone, any version of it. */
export function withoutPin(entry: Pick<WorldEntry, 'name' | 'tag'>): WorldEntry {
  return pinned(entry, '');
}

/** The names that a job may have put into world. */
function askedIn(from: Remembering): Set<string> {
  const { names = [], file } = chosen.find(from) ?? {};
  return new Set([...names, ...(file === undefined ? [] : [file.name])]);
}

/**
 * Takes out of world what the job asked for and did not get: apk keeps it there, and each later
 * command would try it again and fail with it.
 */
export async function dropUnmet(
  { locations, reader, environment }: Installation,
  context: Remembering,
): Promise<void> {
  const names = askedIn(context);
  const database = await reader.read();
  const unmet = [...names].filter((name) => database.get(name)?.state === 'requested');
  if (unmet.length === 0) return;
  await editWorld(locations, environment, (entries) =>
    entries.filter(({ name }) => !unmet.includes(name)),
  );
}

/** Puts back what world said, before the job, of what the job asked for. */
export async function restoreWorld(
  { locations, reader, environment, copy }: Installation,
  context: Remembering,
): Promise<void> {
  const names = askedIn(context);
  const before = await copy.world();
  const database = await reader.read();
  if (before === undefined || names.size === 0) return;
  const former = new Map(before.entries.map((entry) => [entry.name, entry]));
  const restored = (entries: readonly WorldEntry[]): WorldEntry[] =>
    entries.flatMap((entry) => {
      if (!names.has(entry.name)) return [entry];
      const known = former.get(entry.name);
      if (known === undefined) return [];
      // A pin to what is there no longer would keep apk from everything else.
      const isGone = isPin(known) && !known.operator.startsWith('<');
      return known.text === entry.text ? [entry] : [isGone ? withoutPin(known) : known];
    });
  const current = (await readWorld(locations.world)).entries;
  const isIn = (name: string): boolean => current.some((entry) => entry.name === name);
  const lost = before.entries.filter(
    ({ name }) => names.has(name) && isPresent(database.get(name)) && !isIn(name),
  );
  if (lost.length === 0 && formatWorld(restored(current)) === formatWorld(current)) return;
  await editWorld(locations, environment, (entries) => [...restored(entries), ...lost]);
}
