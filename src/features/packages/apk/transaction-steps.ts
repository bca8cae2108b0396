import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { reasonOf } from '../../../errors.ts';
import { retryFrom, type Act, type Jump, type Step, type StepContext } from '../../../jobs/plan.ts';
import { EXPLAINED_BYTES, type Failure } from '../failure.ts';
import type { PackageChange, TransactionSteps } from '../package-manager.ts';
import { syncDisk } from './disk-sync.ts';
import { freeBytesAt, needBytes } from './planning/download.ts';
import { fetchStep } from './planning/fetch-step.ts';
import { checkFetched } from './planning/fetched-check.ts';
import { endHolders } from './held-output.ts';
import type { Installation } from './installation.ts';
import { readPlan } from './planning/job-plan.ts';
import { planChange } from './planning/plan-change.ts';
import { waitForLock } from './lock.ts';
import { listsStep, wantsLists } from './missing-lists.ts';
import { finishCutOff, leftoversOf, removeCutOff, removeUnfinished } from './recovery/recovery.ts';
import { checkRepair } from './planning/repair-check.ts';
import { simulate, type Simulation } from './planning/simulation.ts';
import { restoreWorld, dropUnmet } from './records/world-edit.ts';

/**
 * Around apk's command. Before it: its records must be sound, and are copied; its plan must do what
 * was asked for and nothing else; what it needs is fetched and checked; no file may be another
 * package's. After it: a request that failed leaves world, and what apk did not get to record is
 * put right.
 */
export function createTransactionSteps(installation: Installation): TransactionSteps {
  const { copy, records } = installation;
  return {
    first: [listsStep(installation)],
    needSpace: (purpose) => needSpace(installation, purpose),
    before: (changeIn) => [
      act('prepare', () => prepare(installation)),
      {
        id: 'plan',
        label: 'plan',
        act: async (context) => plan(installation, context, changeIn(context)),
      },
      fetchStep(installation),
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

async function prepare({ prepareFolders, locations }: Installation): Promise<void> {
  await prepareFolders();
  await rm(locations.ownCache, { recursive: true, force: true });
}

/**
 * Looks at everything at once, and once more if somebody else was at work meanwhile: asking the
 * kernel for the lock takes as long as the plan.
 */
async function plan(
  installation: Installation,
  context: StepContext,
  change: PackageChange | undefined,
): Promise<Jump | undefined> {
  const look = async (): Promise<Simulation | undefined> => {
    const [found] = await Promise.all([
      change === undefined ? undefined : simulate(installation.commands, change),
      installation.assertSound().then(installation.copy.save),
    ]);
    return found;
  };
  const first = look();
  // What looks damaged may be what somebody has not put on record yet.
  const sound = first.catch(look);
  sound.catch(() => undefined);
  const hasWaited = await waitForLock(installation.locations.lock, context);
  const found = await (hasWaited ? look() : sound);
  if (change === undefined || found === undefined) return undefined;
  if (wantsLists(context, found)) return retryFrom(listsStep(installation));
  await planChange(installation, context, { change, found });
  return undefined;
}

/**
 * In a job's steps only what failed is said; in its repair it is put right. Either way a request
 * that led to nothing leaves world, where it would fail every later command.
 */
async function mend(
  installation: Installation,
  context: StepContext,
): Promise<Failure | undefined> {
  if (context.job.phase === 'repair') {
    await finishCutOff(installation, context);
    await restoreWorld(installation, context);
    return undefined;
  }
  const [left] = await Promise.all([
    leftoversOf(installation, context),
    dropUnmet(installation, context),
    // Whatever is kept of the outcome from here on must not outlive it.
    syncDisk(installation),
  ]);
  if (left !== undefined) {
    return CUT_OFF;
  }
  const { brokenBy } = await import('./faults.ts');
  return brokenBy(readPlan(context.memory).changes, {
    before: await installation.copy.database(),
    after: await installation.reader.read(),
    output: await context.lastPrinted(EXPLAINED_BYTES),
  });
}

const CUT_OFF: Failure = {
  code: 'unknown',
  reason: 'apk was cut off before it recorded what it did',
  remedy: 'What it began is taken back or finished: start the task again.',
};

/** A damaged world that somebody left meanwhile is no copy to go back to. */
async function saveIfSound(installation: Installation): Promise<void> {
  await installation.assertSound().then(
    () => installation.copy.save(),
    () => undefined,
  );
}

function cleanUp(installation: Installation): Step[] {
  const { locations, cache, records } = installation;
  return [
    act('clean-up', async (context) => {
      const { job, note } = context;
      await Promise.all([
        cache().then(purgeCache),
        rm(locations.keptPackages, { recursive: true, force: true }),
      ]);
      await rm(locations.ownCache, { recursive: true, force: true });
      if (job.phase !== 'repair') return;
      await removeUnfinished(installation, context);
      await syncDisk(installation);
      await records.remove().catch((error: unknown) => note(reasonOf(error)));
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
