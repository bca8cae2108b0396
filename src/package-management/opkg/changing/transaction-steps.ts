import { tmpdir, uptime } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { isSameDisk } from '../../../device/disk/space.ts';
import { fileVersionSync } from '../../../device/file-version.ts';
import { DepotError } from '../../../errors.ts';
import { sizeText } from '../../../format-bytes.ts';
import { plainAct, type Act, type StepContext } from '../../../jobs/plan.ts';
import { failureError } from '../../failure.ts';
import { syncDisk } from '../../../device/disk/sync.ts';
import type { PackageChange, TransactionSteps } from '../../manager.ts';
import { lasting, transactionSlots } from '../../transaction-slots.ts';
import { ahead, LOCK_LIMIT_MS, LOCK_PAUSE_MS } from '../../wait-for-lock.ts';
import type { AutoInstalled } from '../database/auto-installed.ts';
import { lowerVersions, restoreVersions } from '../recovery/damaged.ts';
import { damageSteps, type DamageTools } from '../recovery/repair-steps.ts';
import type { Installation } from '../installation.ts';
import { makeReady, waitForOpkg } from './lock.ts';
import { listsSteps } from '../feeds/missing-lists.ts';
import { withoutList } from '../recovery/orphaned-files.ts';
import { unlisted } from '../recovery/unlisted.ts';
import { restoreUnwritten } from '../recovery/unwritten.ts';

/** Free space below which opkg could not even write its status file, so that it is not started. */
const LEAST_FREE_BYTES = 1024 ** 2;
/** With more free than that nobody looks what a change takes: it reads all lists for that. */
const SCARCE_BYTES = 512 * 1024 ** 2;

/**
 * Around opkg's command: its lock is waited for, since opkg does not; and its status file, which it
 * truncates and writes in place, is copied before and judged after. It syncs nothing, so that what
 * it did is written down before anybody relies on it.
 */
export function createTransactionSteps(
  installation: Installation,
  { auto, ...others }: Omit<DamageTools, 'wasShutOut'> & { auto: AutoInstalled },
): TransactionSteps {
  const { statusCopy } = installation;
  const { damaged } = others;
  const tools = { ...others, wasShutOut: hasLostLock };
  // Begun early: reading the kernel's table of locks takes 10 ms and more.
  const ready = ahead((context) => makeReady(installation, context));
  return {
    first: (choosesFromFeeds, refetchNote) => {
      const given = { ...tools, refetchNote, meanwhile: ready.begin };
      return listsSteps(installation, given, () => choosesFromFeeds);
    },
    needSpace: (purpose) => needSpace(installation, purpose),
    before: (changeIn, { keep, ...readies } = {}) => [
      {
        ...keep,
        ...readies,
        id: 'prepare-change',
        label: 'prepare',
        act: async (context) => {
          const [change, wasHeld] = [changeIn(context), ready.end(context)];
          await prepareAndKeep(installation, context, { change, keep, wasHeld });
          const { names = [], verb = 'remove' } = change ?? {};
          if (verb !== 'remove') {
            await lowerVersions(installation.statusFile, context, damaged.among(names));
          }
          // A removal that is cut off has nothing to go back to.
          lasting.write(context, { isWritten: change?.verb === 'remove' });
        },
      },
    ],
    mendDamage: damageSteps(installation, tools),
    after: [
      plainAct('write', 'write to the disk', async (context) => {
        const reason = context.isWritten ? undefined : await writeDown(installation);
        if (reason === undefined) lasting.write(context, { isWritten: true });
        else if (context.job.phase === 'repair') await context.note(reason);
        else throw new DepotError('internal', reason);
      }),
    ],
    roots: async () => (await installation.readConfig()).destinations,
    databaseBefore: statusCopy.read,
    wasShutOut: hasLostLock,
    mend: async (context) => {
      await restoreVersions(installation.statusFile, context);
      if (lasting.read(context).isWritten !== true) await writeDown(installation);
      await restoreUnwritten(installation, context);
      const reason = await mendStatus(installation, context);
      const after = await installation.read();
      const before = (await statusCopy.read()) ?? after;
      await auto.update(before, after);
      await damaged.update(after);
      if (reason !== undefined) return { code: 'damaged_database', reason, remedy: RECORDS_BACK };
      return (await import('./content-check.ts')).findHollow(before, installation);
    },
    // Should the file be damaged before the next job, it comes back with what this one did.
    accept: statusCopy.save,
    cleanUp: () => [],
    beforeRepair: async (context, repair) => {
      await prepare(installation, context, await makeReady(installation, context));
      return repair;
    },
    removeOrphans: async (context, since) => {
      // What somebody else's opkg unpacks at this moment looks like what a killed one left.
      if ((await installation.findOrphans(since)).length > 0) {
        await waitForOpkg(installation, context);
        const names = await installation.findOrphans(since);
        unlisted.write(context, { unlisted: await withoutList(installation.infoDir, names) });
      }
      return installation.removeOrphans(since);
    },
  };
}

/** Syncs the file systems that opkg writes to. @returns why that failed, if it did */
async function writeDown({ environment, readConfig }: Installation): Promise<string | undefined> {
  return syncDisk(environment, (await readConfig()).destinations);
}

async function needSpace({ freeBytes }: Installation, purpose: string): Promise<void> {
  const free = await freeBytes();
  if (free < LEAST_FREE_BYTES) {
    const [there, least] = [sizeText(free), sizeText(LEAST_FREE_BYTES)];
    const reason = `${there} are free for packages, ${least} are needed at least`;
    throw failureError(purpose, { code: 'no_space', reason });
  }
}

/** opkg checks no room for downloads: if they fill the root's disk, it reports no full disk. */
async function needRoom(installation: Installation, change?: PackageChange): Promise<void> {
  if (change === undefined || change.verb === 'remove' || change.file !== undefined) return;
  const free = await installation.freeBytes();
  const isShared = await isSameDisk(tmpdir(), installation.destination);
  if (!isShared || free > SCARCE_BYTES) return;
  const { previewChange } = await import('../planning/preview.ts');
  const { problems } = await previewChange(installation, change);
  const shortage = problems.find(({ code }) => code === 'no_space');
  if (shortage === undefined) return;
  const { code, message, remedy } = shortage;
  throw new DepotError('no_space', message, { explanation: { code, remedy } });
}

const RECORDS_BACK = 'The records are as they were before: start the task again.';

/**
 * Keeps the copies for undo again if others have changed the records meanwhile.
 * @param given `wasHeld`: the answer of `makeReady`, whether somebody else held the lock
 */
async function prepareAndKeep(
  installation: Installation,
  context: StepContext,
  given: { change: PackageChange | undefined; keep: Act | undefined; wasHeld: Promise<boolean> },
): Promise<void> {
  const { change, keep, wasHeld } = given;
  const { statusFile } = installation;
  let seen = fileVersionSync(statusFile);
  const preparing = wasHeld.then(async (isHeld) => {
    const isChanged = await prepare(installation, context, isHeld);
    await needRoom(installation, change);
    if (isChanged) seen = fileVersionSync(statusFile);
    // Last, so that it has what others did while this job waited.
    await installation.statusCopy.save();
    return isChanged;
  });
  const [prepared, kept] = await Promise.allSettled([preparing, keep?.act(context)]);
  if (prepared.status === 'rejected') throw prepared.reason;
  if (prepared.value) await keep?.act(context);
  else if (kept.status === 'rejected') throw kept.reason;
  if (fileVersionSync(statusFile) === seen) return;
  const again = makeReady(installation, context);
  await prepareAndKeep(installation, context, { change, keep, wasHeld: again });
}

/**
 * A status file that came out damaged earlier is put back, when nobody else holds the lock.
 * @returns whether packages, or their records, have changed meanwhile
 */
async function prepare({ statusCopy }: Installation, context: StepContext, wasHeld: boolean) {
  if ((await statusCopy.intact()) !== undefined) return wasHeld;
  const what = 'the status file of opkg is damaged; the copy from before the last job is put back';
  await context.note(what);
  await statusCopy.restore();
  return true;
}

/**
 * When another process first took the lock ahead of opkg, in seconds since the boot: a router's
 * time of day jumps by decades when it learns it.
 */
const shutOut = transactionSlots('the lock', { lostAtS: v.optional(v.number()) });

/** opkg's exit code for every failure. */
const FAILED = 255;

/**
 * Whether opkg did nothing because somebody took the lock between the look at it and opkg's start.
 * The message counts only if it is printed first: scripts that call opkg print it, too.
 */
async function hasLostLock(context: StepContext): Promise<boolean> {
  const { job, printed } = context;
  if (job.lastExitCode !== FAILED) return false;
  const start = (await printed(400)).trimStart();
  if (!/^(Collected errors:\s+)?\* opkg_conf_load: Could not lock /.test(start)) return false;
  const nowS = uptime();
  // Noted before another boot it would lie ahead.
  const sinceS = Math.min(shutOut.read(context).lostAtS ?? nowS, nowS);
  if ((nowS - sinceS) * 1000 > LOCK_LIMIT_MS) return false;
  shutOut.write(context, { lostAtS: sinceS });
  await delay(LOCK_PAUSE_MS);
  return true;
}

/**
 * Puts back the copy of a status file that is damaged, or lacks packages that are on the device.
 * @returns what was wrong, if anything was
 */
async function mendStatus(installation: Installation, context: StepContext) {
  if ((await faultOf(installation)) === undefined) return undefined;
  // Somebody else's opkg may be writing it at this moment.
  await waitForOpkg(installation, context);
  const fault = await faultOf(installation);
  if (fault !== undefined) await installation.statusCopy.restore();
  return fault;
}

async function faultOf(installation: Installation): Promise<string | undefined> {
  const before = await installation.statusCopy.read();
  if (before === undefined) return undefined;
  if ((await installation.statusCopy.intact()) === undefined) {
    return 'the status file of opkg came out damaged; the copy from before is put back';
  }
  const after = await installation.read();
  for (const { name, state } of before.values()) {
    if (state === 'not-installed' || after.has(name)) continue;
    if (!(await installation.hasControlFile(name))) continue;
    return `the status file of opkg lost ${name}; the copy from before is put back`;
  }
  return undefined;
}
