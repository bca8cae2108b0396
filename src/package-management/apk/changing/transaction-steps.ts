import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { reasonOf } from '../../../errors.ts';
import {
  plainAct,
  retryFrom,
  type Act,
  type Jump,
  type Step,
  type StepContext,
} from '../../../jobs/plan.ts';
import { EXPLAINED_BYTES, failureError, type Failure } from '../../failure.ts';
import type {
  PackageChange,
  PlannedPackage,
  TransactionSteps,
  WatchedLists,
} from '../../manager.ts';
import { fileVersionSync } from '../../../device/file-version.ts';
import { changedPackages } from '../../database.ts';
import { syncDisk } from '../../../device/disk/sync.ts';
import { downloadsOf } from '../planning/download.ts';
import { fetchSmall, fetchStep, gatherStep, type Further } from '../planning/fetch-step.ts';
import { checkFetched, unlessFull } from '../planning/fetched-check.ts';
import { endHolders } from './held-output.ts';
import type { Installation } from '../installation.ts';
import { planChange, planned, readPlan } from '../planning/plan-change.ts';
import { checkRepair, purposeOf } from '../planning/plan-check.ts';
import { findShortage, freeBytesAt, NOTHING, sizeOf } from '../planning/space.ts';
import { explain } from './failure.ts';
import { ahead, type Ahead } from '../../wait-for-lock.ts';
import { waitForApk } from './lock.ts';
import { LISTS_STEP, listsCheck, listsStep, wantsLists } from '../feeds/lists.ts';
import { finishCutOff, leftoversOf, removeCutOff, removeUnfinished } from '../recovery/recovery.ts';
import { returnRecords } from '../recovery/record-return.ts';
import { simulate, type Simulation } from '../planning/simulation.ts';
import { restoreWorld, dropUnmet } from '../database/world-edit.ts';

/**
 * Around apk's command. Before it: its records must be sound, and are copied; its plan must do what
 * was asked for and nothing else; what it needs is fetched and checked; no file may be another
 * package's. After it: a request that failed leaves world, and what apk did not get to record is
 * put right.
 */
export function createTransactionSteps(
  installation: Installation,
  lists: WatchedLists,
): TransactionSteps {
  const { copy, records, locations } = installation;
  const lock = ahead((context) => waitForApk(locations.lock, context));
  const fetching = ahead((context) => fetchSmall(installation, context));
  const later = createLaterSave(installation);
  const planStep = (changeIn: ChangeIn): Act =>
    act('plan', async (context) => {
      await later.flush();
      const jump = await plan(installation, context, { change: changeIn(context), lock, lists });
      if (jump === undefined) fetching.begin(context);
      return jump;
    });
  const checkStep = (changeIn: ChangeIn, planning: Act, { keep }: Further): Act =>
    plainAct('check-packages', 'check', async (context) => {
      await checkFetched(installation, context, changeIn(context));
      // What the owner changed during a long download is not the task's.
      const wasLong = !planned.read(context).isFetched && readPlan(context).downloads.length > 0;
      if (wasLong) await keep?.act(context);
      return (await wasOvertaken(installation, context)) ? retryFrom(planning) : undefined;
    });
  return {
    first: (choosesFromFeeds, refetchNote) => [
      listsStep(installation, choosesFromFeeds, refetchNote),
      listsCheck(installation, lists, choosesFromFeeds),
    ],
    needSpace: (purpose) => needSpace(installation, purpose),
    before: (changeIn, further = {}) => {
      const planning = planStep(changeIn);
      return [
        act('prepare', () => prepare(installation)),
        planning,
        gatherStep(planning, { ...further, lock, fetching }),
        fetchStep(installation),
        checkStep(changeIn, planning, further),
      ];
    },
    planned: (context) => plannedPackages(installation, context),
    supervise: endHolders,
    roots: () => Promise.resolve([installation.root]),
    databaseBefore: copy.database,
    // apk waits for its lock by itself.
    wasShutOut: () => Promise.resolve(false),
    mend: (context) => mend(installation, context),
    accept: async () => {
      later.schedule();
      await records.removeLarge();
    },
    cleanUp: () => cleanUp(installation),
    beforeRepair: async (context, repair) => {
      await later.flush();
      await installation.prepareFolders();
      await waitForApk(locations.lock, context);
      return checkRepair(installation, context, repair);
    },
    removeOrphans: (context) => removeCutOff(installation, context),
  };
}

type ChangeIn = Parameters<TransactionSteps['before']>[0];

async function plannedPackages(
  { offers, reader }: Installation,
  context: StepContext,
): Promise<PlannedPackage[]> {
  const { changes } = readPlan(context);
  const known = {
    offers: await offers(changes.map(({ name }) => name)),
    records: await reader.records(),
  };
  return changes.map((change) => {
    const { name, from, to } = change;
    const kind = from === undefined ? 'install' : 'upgrade';
    const action = to === undefined ? 'remove' : kind;
    return { action, name, diskBytes: sizeOf(change, known).diskBytes };
  });
}

function act(id: string, work: Act['act']): Act {
  return plainAct(id, id, work);
}

async function needSpace({ root }: Installation, purpose: string): Promise<void> {
  const shortage = findShortage({ ...NOTHING, free: await freeBytesAt(root) });
  if (shortage !== undefined) throw failureError(purpose, shortage.failure);
}

async function prepare({ prepareFolders, locations }: Installation): Promise<undefined> {
  await Promise.all([prepareFolders(), rm(locations.ownCache, { recursive: true, force: true })]);
}

/**
 * Looks at everything at once, and once more if somebody else was at work. The kernel's answer on
 * the lock takes longer than the plan: if something is to be fetched, the step behind that waits
 * for the answer.
 */
async function plan(
  installation: Installation,
  context: StepContext,
  given: { change: PackageChange | undefined; lock: Ahead<boolean>; lists: WatchedLists },
): Promise<Jump | undefined> {
  const { change, lock, lists } = given;
  const look = async (): Promise<Simulation | undefined> => {
    planned.write(context, { seen: fileVersionSync(installation.locations.installed) });
    const [found] = await Promise.all([
      change === undefined ? undefined : simulate(installation.commands, change),
      installation.assertSound().then(() => installation.copy.save().catch(unlessFull(change))),
    ]);
    return found;
  };
  const decide = async (found: Simulation | undefined): Promise<Jump | undefined> => {
    if (change === undefined || found === undefined) return undefined;
    const wanted = { purpose: purposeOf(change), found, lists };
    if (await wantsLists(installation, context, wanted)) return retryFrom({ id: LISTS_STEP });
    await planChange(installation, context, { change, found });
    return undefined;
  };
  lock.begin(context);
  try {
    // What looks damaged may be what somebody has not put on record yet.
    const found = await look().catch(look);
    const isFetching = downloadsOf(found?.changes ?? [], change?.file?.name).length > 0;
    const isStale = !isFetching && (await lock.end(context));
    return await decide(isStale ? await look() : found);
  } catch (error) {
    if (!(await lock.end(context))) throw error;
    return decide(await look());
  }
}

/** Whether others have changed packages since the plan was made and the records were copied. */
async function wasOvertaken({ copy, reader, locations }: Installation, context: StepContext) {
  if (fileVersionSync(locations.installed) === planned.read(context).seen) return false;
  const now = await reader.read();
  return changedPackages((await copy.database()) ?? now, now).length > 0;
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
    await returnRecords(installation, context);
    await finishCutOff(installation, context);
    await restoreWorld(installation, context);
    return undefined;
  }
  const output = (): Promise<string> => context.lastPrinted(EXPLAINED_BYTES);
  const [left, before, { faultIn, missingIn }, after, unwritten] = await Promise.all([
    leftoversOf(installation, context),
    installation.copy.database(),
    import('./install-faults.ts'),
    dropUnmet(installation, context).then(installation.reader.read),
    // Whatever is kept of the outcome from here on must not outlive it.
    context.isWritten ? undefined : syncDisk(installation.environment, [installation.root]),
  ]);
  if (left !== undefined) {
    const names = readPlan(context).changes.map(({ name }) => name);
    const said = explain({ output: await output(), names });
    return said === undefined || said.code === 'unknown' ? CUT_OFF : said;
  }
  if (unwritten !== undefined) return { code: 'unknown', reason: unwritten };
  const { changes } = readPlan(context);
  const fault = await faultIn(changes, { before, after, output });
  if (fault !== undefined || (context.job.lastExitCode ?? 0) === 0) return fault;
  return missingIn(changes, { ...installation, output });
}

const CUT_OFF: Failure = {
  code: 'unknown',
  reason: 'apk was cut off before it recorded what it did',
  remedy: 'What it began is taken back or finished: start the task again.',
};

/** Pause until nobody waits for the outcome of the job any more. */
const LATER_MS = 50;

/**
 * Copies what apk has on record once a job is over, whose outcome need not wait for that; a repair
 * and the next job do.
 */
function createLaterSave({ assertSound, copy }: Installation) {
  let waiting = new AbortController();
  let saving = Promise.resolve();
  return {
    schedule: (): void => {
      waiting = new AbortController();
      saving = delay(LATER_MS, undefined, { ref: false, signal: waiting.signal })
        .catch(() => undefined)
        .then(assertSound)
        .then(copy.save)
        // A damaged world that somebody left meanwhile is no copy to go back to.
        .catch(() => undefined);
    },
    flush: (): Promise<void> => {
      waiting.abort();
      return saving;
    },
  };
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
      if (job.phase !== 'repair') return undefined;
      await removeUnfinished(installation, context);
      const reason = await syncDisk(installation.environment, [installation.root]);
      if (reason !== undefined) await note(reason);
      await records.removeLarge().catch((error: unknown) => note(reasonOf(error)));
    }),
  ];
}

/** Empties apk's cache, which mostly lies in memory; one below /etc is for its owner to empty. */
async function purgeCache(folder: string): Promise<void> {
  if (folder.endsWith('/etc/apk/cache')) return;
  for (const name of await readdir(folder).catch(() => [])) {
    if (/\.apk(?:\.|$)/.test(name)) await rm(join(folder, name), { force: true });
  }
}
