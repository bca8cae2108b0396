import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../device/exec.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import type { Act, Step, StepContext } from '../../../jobs/plan.ts';
import type { PackageChange, TransactionSteps } from '../package-manager.ts';
import { compareVersions } from './compare-versions.ts';
import { downloadsOf, fetchCommand, freeBytesAt, needBytes } from './planning/download.ts';
import { checkFetched } from './planning/fetched-check.ts';
import { brokenSentence } from './faults.ts';
import { endHolders } from './held-output.ts';
import type { Installation } from './installation.ts';
import { planOf, readPlan } from './planning/job-plan.ts';
import { waitForLock } from './lock.ts';
import { checkPlan } from './planning/plan-check.ts';
import { finishCutOff, leftoversOf, removeCutOff } from './recovery/recovery.ts';
import { checkRepair } from './planning/repair-check.ts';
import { sizesOf } from './planning/sizes.ts';
import { simulate, type Simulation } from './planning/simulation.ts';
import { restoreWorld, dropUnmet } from './records/world-edit.ts';

/**
 * Around apk's command. Before it: its records must be sound, and are copied; its plan must do what
 * was asked for and nothing else; what it needs is fetched and checked; no file may be another
 * package's. After it: a request that failed leaves world, and what apk did not get to record is
 * put right.
 */
export function createTransactionSteps(installation: Installation): TransactionSteps {
  const { copy, records, commands } = installation;
  return {
    needSpace: (purpose) => needSpace(installation, purpose),
    before: (changeIn) => [
      act('prepare', (context) => prepare(installation, context)),
      act('plan', (context) => plan(installation, context, changeIn(context))),
      {
        id: 'fetch',
        label: 'fetch',
        mustSucceed: false,
        command: async ({ memory }) => {
          const downloads = downloadsOf(readPlan(memory).changes, readPlan(memory).own);
          if (downloads.length === 0) return undefined;
          return fetchCommand(commands, downloads, {
            cache: await installation.cache(),
            offers: await installation.offers(downloads.map(({ name }) => name)),
          });
        },
      },
      act('check', (context) => checkFetched(installation, context, changeIn(context))),
    ],
    supervise: endHolders,
    databaseBefore: copy.database,
    // apk waits for its lock by itself.
    wasShutOut: () => Promise.resolve(false),
    mend: (context) => mend(installation, context),
    accept: async () => {
      await saveIfSound(installation);
      await records.remove();
    },
    cleanUp: () => cleanUp(installation),
    beforeRepair: async (context, repair) => {
      await installation.prepareFolders();
      await waitForLock(installation.locations.lock, context);
      return checkRepair(installation, context, repair);
    },
    removeOrphans: (context) => removeCutOff(installation, context),
  };
}

function act(id: string, work: (context: StepContext) => Promise<void>): Act {
  return { id, label: id, act: (context) => work(context).then(() => undefined) };
}

async function needSpace({ root }: Installation, purpose: string): Promise<void> {
  needBytes(purpose, { needed: 0, free: await freeBytesAt(root), where: 'for packages' });
}

async function prepare(installation: Installation, context: StepContext): Promise<void> {
  await installation.prepareFolders();
  await waitForLock(installation.locations.lock, context);
  await installation.assertSound();
  await installation.copy.save();
  await rm(installation.locations.ownCache, { recursive: true, force: true });
}

async function plan(
  installation: Installation,
  context: StepContext,
  change: PackageChange | undefined,
): Promise<void> {
  if (change === undefined) return;
  const { commands, reader } = installation;
  const database = await reader.read();
  const own = change.file?.name;
  const purpose = `${change.verb} ${own ?? change.names.join(', ')}`;
  const found = await simulate(commands, change);
  checkPlan(found, { change, database, ...(own === undefined ? {} : { own }) });
  if (change.verb === 'upgrade') await checkUpgrade(installation, context, { change, found });
  await chooseCache(installation, context, { found, purpose, change });
  context.memory.plan = planOf(found.changes, purpose, own);
}

/** apk says nothing of what it does not upgrade, and ends well. */
async function checkUpgrade(
  { offers, reader }: Installation,
  { memory, note }: StepContext,
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
    throw new DepotError(
      'command_failed',
      `cannot upgrade ${held}: /etc/apk/world holds it at ${database.get(held)?.version ?? ''}; ` +
        `install ${held} to let it go, then upgrade it`,
    );
  }
  await note(`nothing to do: ${names.join(', ')} cannot be upgraded by what the feeds offer`);
  memory.names = [];
}

/**
 * Everything is fetched before anything is changed, to memory; if it does not fit there, to the
 * disk, so far as that has room.
 */
async function chooseCache(
  { root, locations, cache, offers, reader }: Installation,
  { note }: StepContext,
  { found, purpose, change }: { found: Simulation; purpose: string; change: PackageChange },
): Promise<void> {
  const { file } = change;
  const sizes = sizesOf(found.changes, {
    offers: await offers(found.changes.map(({ name }) => name)),
    records: await reader.records(),
  });
  const [free, ownBytes] = [await freeBytesAt(root), await sizeOf(file?.path)];
  const disk = Math.max(0, sizes.disk + ownBytes);
  needBytes(purpose, { needed: disk, free, where: 'on the device' });
  if (downloadsOf(found.changes, file?.name).length === 0) return;
  const folder = await cache();
  const inCache = await freeBytesAt(folder);
  if (sizes.download <= inCache) return;
  needBytes(purpose, { needed: disk + sizes.download, free, where: 'on the device' });
  await note(
    `${folder} has room for ${inCache} bytes, and ${sizes.download} are fetched: they go to ` +
      `${locations.ownCache} until they are installed`,
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

/**
 * In a job's steps only what failed is said; in its repair it is put right. Either way a request
 * that led to nothing leaves world, where it would fail every later command.
 */
async function mend(installation: Installation, context: StepContext): Promise<string | undefined> {
  if (context.job.phase === 'repair') {
    await finishCutOff(installation, context);
    await restoreWorld(installation, context);
    return undefined;
  }
  await dropUnmet(installation, context);
  if ((await leftoversOf(installation, context)) !== undefined) {
    return 'apk was cut off before it recorded what it did';
  }
  const { changes, purpose } = readPlan(context.memory);
  return brokenSentence(purpose, changes, {
    before: await installation.copy.database(),
    after: await installation.reader.read(),
    output: await context.printed(MOST_OUTPUT_BYTES),
  });
}

/** Scripts may print without end. */
const MOST_OUTPUT_BYTES = 256 * 1024;

/** A damaged world that somebody left meanwhile is no copy to go back to. */
async function saveIfSound(installation: Installation): Promise<void> {
  await installation.assertSound().then(
    () => installation.copy.save(),
    () => undefined,
  );
}

/** apk never does: what it renamed may be empty after a power cut. */
async function syncDisk({ root, environment }: Installation): Promise<void> {
  const limits = { timeoutMs: 60_000, maxBytes: 4096 };
  const command = { environment, cwd: '/' };
  const { exitCode } = await run({ ...command, argv: ['sync', '-f', root] }, limits);
  if (exitCode !== 0) await run({ ...command, argv: ['sync'] }, limits);
}

function cleanUp(installation: Installation): Step[] {
  const { locations, cache, records } = installation;
  return [
    act('clean-up', async ({ job, note }) => {
      await purgeCache(await cache());
      await rm(locations.ownCache, { recursive: true, force: true });
      await rm(locations.keptPackages, { recursive: true, force: true });
      await syncDisk(installation);
      if (job.phase === 'repair') {
        await records.remove().catch((error: unknown) => note(reasonOf(error)));
      }
    }),
  ];
}

/** It is in memory on most devices; a lasting one is its owner's. */
async function purgeCache(folder: string): Promise<void> {
  if (folder.endsWith('/etc/apk/cache')) return;
  for (const name of await readdir(folder).catch(() => [])) {
    if (/\.apk(?:\.|$)/.test(name)) await rm(join(folder, name), { force: true });
  }
}
