import { copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StepContext } from '../../../jobs/plan.ts';
import { isSameDisk } from '../../../device/disk/space.ts';
import { sizeText } from '../../../format-bytes.ts';
import { failureError } from '../../failure.ts';
import type { PackageChange } from '../../manager.ts';
import { chosen } from '../../memory.ts';
import { compareVersions } from '../compare-versions.ts';
import type { Installation } from '../installation.ts';
import { downloadsOf, freeBytesAt, needBytes } from './download.ts';
import { planOf, writePlan } from './job-plan.ts';
import { checkPlan } from './plan-check.ts';
import { sizesOf } from './sizes.ts';
import type { Simulation } from './simulation.ts';

/** Refuses what nobody asked for and what there is no room for, and keeps the rest in the job. */
export async function planChange(
  installation: Installation,
  context: StepContext,
  { change, found }: { change: PackageChange; found: Simulation },
): Promise<void> {
  const database = await installation.reader.read();
  const own = change.file?.name;
  const purpose = `${change.verb} ${own ?? change.names.join(', ')}`;
  const image = change.verb === 'remove' ? await installation.imagePackages() : NONE;
  checkPlan(found, { change, database, image, ...(own === undefined ? {} : { own }) });
  if (change.verb === 'upgrade') await checkUpgrade(installation, context, { change, found });
  // A removal gives room, and apk works on a disk that is full.
  if (change.verb !== 'remove') {
    await chooseCache(installation, context, { found, purpose, file: change.file });
  }
  writePlan(context, planOf(found.changes, purpose, own));
}

const NONE: ReadonlySet<string> = new Set();

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
    return (
      entry?.isHeld === true &&
      best !== undefined &&
      compareVersions(best.version, entry.version) > 0
    );
  });
  if (held !== undefined) {
    throw failureError(`upgrade ${held}`, {
      code: 'held',
      package: held,
      reason: `/etc/apk/world holds it at ${database.get(held)?.version ?? ''}`,
    });
  }
  await context.note(
    `nothing to do: ${names.join(', ')} cannot be upgraded by what the feeds offer`,
  );
  chosen.write(context, { names: [] });
}

/**
 * Everything is fetched before anything is changed, to memory; if it does not fit there, to the
 * disk, so far as that has room.
 */
async function chooseCache(
  { root, locations, cache, offers, reader }: Installation,
  { note }: StepContext,
  { found, purpose, file }: { found: Simulation; purpose: string; file: PackageChange['file'] },
): Promise<void> {
  const sizes = sizesOf(found.changes, {
    offers: await offers(found.changes.map(({ name }) => name)),
    records: await reader.records(),
  });
  const [free, ownBytes] = [await freeBytesAt(root), await sizeOf(file?.path)];
  const disk = Math.max(0, sizes.disk + ownBytes);
  needBytes(purpose, { disk, free });
  if (downloadsOf(found.changes, file?.name).length === 0) return;
  const folder = await cache();
  const inCache = await freeBytesAt(folder);
  const isFitting = sizes.download <= inCache;
  if (!isFitting || (await isSameDisk(folder, root))) {
    needBytes(purpose, { disk, fetched: sizes.download, free });
  }
  if (isFitting) return;
  await note(
    `${folder} has room for ${sizeText(inCache)}, and ${sizeText(sizes.download)} are fetched: ` +
      `they go to ${locations.ownCache} until they are installed`,
  );
  await mkdir(locations.ownCache, { recursive: true });
  for (const name of await readdir(folder)) {
    if (name.startsWith('APKINDEX.')) {
      await copyFile(join(folder, name), join(locations.ownCache, name));
    }
  }
}

async function sizeOf(file: string | undefined): Promise<number> {
  return file === undefined ? 0 : (await stat(file)).size;
}
