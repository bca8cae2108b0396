import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Remembering } from '../../../jobs/memory.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import { sizeText } from '../../../format-bytes.ts';
import { failureError } from '../../failure.ts';
import type { PackageChange } from '../../manager.ts';
import { chosen, transactionSlots } from '../../transaction-slots.ts';
import { compareVersions } from '../compare-versions.ts';
import type { Installation } from '../installation.ts';
import { readPackageFile } from '../package-file/apk-file.ts';
import { downloadsOf } from './download.ts';
import { checkPlan, purposeOf } from './plan-check.ts';
import { findShortage, measureRoom, sizeOf } from './space.ts';
import { plannedChange, type PlannedChange, type Simulation } from './simulation.ts';

/**
 * What a job is about to do, kept in the job. Others may have begun it, or go on with it, when
 * depotd itself is upgraded or goes back: 0.1.0 reads `own` and `purpose`.
 */
const plan = v.object({
  changes: v.array(plannedChange),
  /** Packages of the plan that are fetched; 0.1.0 does not write it. */
  downloads: v.optional(v.array(plannedChange)),
  /** The package in the file that is installed, if it is one. */
  own: v.optional(v.string()),
  purpose: v.optional(v.string()),
});

export const planned = transactionSlots('the plan', {
  plan: v.optional(plan, { changes: [] }),
  /** The version of apk's record that it was made by. */
  seen: v.optional(v.string()),
  /** Whether all packages that the plan needs are in apk's cache. */
  isFetched: v.optional(v.boolean(), false),
});

/** The plan that the job keeps; before it is made, or in a job without one, it has no changes. */
export function readPlan(from: Remembering): Record<'changes' | 'downloads', PlannedChange[]> {
  const { changes, own, downloads = downloadsOf(changes, own) } = planned.read(from).plan;
  return { changes, downloads };
}

/** Refuses what nobody asked for and what there is no room for, and keeps the rest in the job. */
export async function planChange(
  installation: Installation,
  context: StepContext,
  { change, found }: { change: PackageChange; found: Simulation },
): Promise<void> {
  const database = await installation.reader.read();
  const image = change.verb === 'remove' ? await installation.imagePackages() : new Set<string>();
  checkPlan(found, { change, database, image });
  if (change.verb === 'upgrade') await checkUpgrade(installation, context, { change, found });
  // A removal gives room, and apk works on a disk that is full.
  if (change.verb !== 'remove') await chooseCache(installation, context, { change, found });
  const { changes } = found;
  const own = change.file?.name;
  const downloads = downloadsOf(changes, own);
  const made = { changes, downloads, own, purpose: purposeOf(change) };
  planned.write(context, { plan: made, isFetched: false });
}

/** apk says nothing of what it does not upgrade, and ends well. */
async function checkUpgrade(
  { offers, reader }: Installation,
  context: StepContext,
  { change: { names }, found: { changes } }: { change: PackageChange; found: Simulation },
): Promise<void> {
  if (changes.length > 0) return;
  const [database, offered] = [await reader.read(), await offers(names)];
  const held = names.find((name) => {
    const [best, entry] = [offered.get(name)?.[0], database.get(name)];
    if (best === undefined || entry?.isHeld !== true) return false;
    return compareVersions(best.version, entry.version) > 0;
  });
  if (held !== undefined) {
    throw failureError(`upgrade ${held}`, {
      code: 'held',
      package: held,
      reason: `/etc/apk/world holds it at ${database.get(held)?.version ?? ''}`,
    });
  }
  const asked = names.join(', ');
  await context.note(`nothing to do: ${asked} cannot be upgraded by what the feeds offer`);
  chosen.write(context, { names: [] });
}

/**
 * Everything is fetched before anything is changed: to memory, or if it does not fit there to the
 * disk, so far as that has room.
 */
async function chooseCache(
  installation: Installation,
  { note }: StepContext,
  { change, found: { changes } }: { change: PackageChange; found: Simulation },
): Promise<void> {
  const { locations, cache, offers, reader } = installation;
  const known = {
    offers: await offers(changes.map(({ name }) => name)),
    records: await reader.records(),
    file: change.file && { ...change.file, ...(await readPackageFile(change.file.path, Infinity)) },
  };
  const sizes = changes.map((each) => sizeOf(each, known));
  const room = await measureRoom(installation, sizes);
  const shortage = findShortage(room);
  if (shortage !== undefined) throw failureError(purposeOf(change), shortage.failure);
  const { download, freeInCache } = room;
  if (download <= freeInCache) return;
  const folder = await cache();
  await note(
    `${folder} has room for ${sizeText(freeInCache)}, and ${sizeText(download)} are fetched: ` +
      `they go to ${locations.ownCache} until they are installed`,
  );
  await mkdir(locations.ownCache, { recursive: true });
  const lists = (await readdir(folder)).filter((name) => name.startsWith('APKINDEX.'));
  for (const name of lists) await copyFile(join(folder, name), join(locations.ownCache, name));
}
