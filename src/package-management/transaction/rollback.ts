import * as v from 'valibot';
import type { Command } from '../../device/command.ts';
import { KILLED } from '../../jobs/exit-file.ts';
import { changedPackages, halfInstalled, isPresent, type PackageDatabase } from '../database.ts';
import { plainAct, plainCommand, retryFrom, type Step, type StepContext } from '../../jobs/plan.ts';
import { isClosedCircle, packagesThatCame } from '../dependencies.ts';
import type { PackageManager, Repair } from '../manager.ts';
import { lasting, ownPackages, transactionSlots } from '../transaction-slots.ts';
import { attempt } from './put-back.ts';
import type { PackageTools } from '../package-tools.ts';

/** Whether a job has done all that it is for, by the package database and what it left itself. */
export type IsComplete = (context: StepContext) => boolean | Promise<boolean>;

export interface RepairWork {
  /** Whether what came with the job goes again. */
  removesWhatCame: boolean;
  /** Whether a job that a power cut broke off has done all that it is for. */
  isComplete: IsComplete;
  /** Whether all that is to be kept is done; default: the transaction was judged well. */
  isAccepted?: (context: StepContext) => boolean;
  /**
   * What to go back to, for a job of several transactions; undefined if it has not come so far.
   * Default: what the transaction found.
   */
  databaseBefore?: () => Promise<PackageDatabase | undefined>;
}

/** The main work of the job was judged well, which a repair keeps. */
export const accepted = transactionSlots('the judgement', {
  isDone: v.optional(v.boolean(), false),
});

/**
 * Whether the package manager may have changed anything; not before it is about to. What is
 * different until then is of others.
 */
export const begun = transactionSlots('the change', { isBegun: v.optional(v.boolean(), true) });

/**
 * After a package job that failed, was stopped or was cut off: nothing stays half installed. What
 * came with it goes again, whole or half; what was there before and is half upgraded is configured
 * once more; files go that a killed package manager left and no database knows. A job that had done
 * its main work (an app is installed, its configuration failed) keeps that.
 */
export function repairSteps(tools: PackageTools, work: RepairWork): Step[] {
  const { manager, catalog } = tools;
  const { around, commands } = manager;
  // If there is nothing to put right, nobody waits for a lock that somebody else holds.
  const prepare = plainAct('prepare-repair', 'prepare repair', async (context) => {
    const repair = findings.read(context);
    if (!isNothing(repair)) {
      const { came, half } = await around.beforeRepair(context, repair);
      findings.write(context, { came: [...came], half: [...half] });
    }
  });
  // Each of the repair's two commands by itself: the second one's exit code replaces the first's.
  const repeatIfShutOut = async (context: StepContext, part: keyof Repair) => {
    const isRun = findings.read(context)[part].length > 0;
    return isRun && (await around.wasShutOut(context)) ? retryFrom(prepare) : undefined;
  };
  return [
    plainAct('assess', 'see what is left', (context) => assess(tools, context, work)),
    prepare,
    plainCommand('undo', 'undo', (context) => removalCommand(manager, findings.read(context).came)),
    plainAct('judge-undo', 'check: undo', async (context) => {
      const jump = await repeatIfShutOut(context, 'came');
      if (jump !== undefined) return jump;
      return (await isRemovalUnfinished(tools, context)) ? retryFrom(prepare) : undefined;
    }),
    plainCommand('configure', 'configure', (context) => {
      const { half } = findings.read(context);
      return half.length === 0 ? undefined : commands.configure(half);
    }),
    ...(around.mendDamage ?? []),
    ...(around.after ?? []),
    plainAct('settle', 'finish', async (context) => {
      const jump = await repeatIfShutOut(context, 'half');
      if (jump !== undefined) return jump;
      await catalog.refresh();
      await report(tools, context);
      await reportLeft(tools, context, work);
      await acceptIfComplete(tools, context, work);
    }),
    ...around.cleanUp(),
  ];
}

/**
 * Whether the removal is to be done again: a package manager that was ended, or that could not
 * write, may have removed files and recorded nothing. Once: what is in its way may stay there.
 */
async function isRemovalUnfinished({ manager }: PackageTools, context: StepContext) {
  const { came, isUndoneAgain } = findings.read(context);
  if (came.length === 0 || isUndoneAgain) return false;
  const now = await manager.installed();
  const isStuck = came.some((name) => isPresent(now.get(name)));
  if (context.job.lastExitCode !== KILLED && !isStuck) return false;
  findings.write(context, { isUndoneAgain: true });
  return true;
}

/** Reads the database again: a package that needs these may have come meanwhile. */
export async function removalCommand(
  { commands, installed }: Pick<PackageManager, 'commands' | 'installed'>,
  names: readonly string[],
): Promise<Command | undefined> {
  if (names.length === 0) return undefined;
  return commands.remove(names, isClosedCircle(await installed(), names));
}

function isNothing({ came, half }: Repair): boolean {
  return came.length + half.length === 0;
}

const findings = transactionSlots('the repair', {
  came: v.optional(v.array(v.string()), []),
  half: v.optional(v.array(v.string()), []),
  isUndoneAgain: v.optional(v.boolean(), false),
  /** What was wrong with the database, or with what came. */
  damage: v.optional(v.string()),
});

async function assess({ manager }: PackageTools, context: StepContext, work: RepairWork) {
  const { job, note } = context;
  const { around } = manager;
  // Nothing was changed, or the change was judged well and stays.
  if (isUntouched(context, work) || isAccepted(context, work)) return;
  const damage = await attempt(context, async () => around.mend(context));
  if (damage !== undefined) {
    findings.write(context, { damage: damage.reason });
    await note(damage.reason);
  }
  // Ahead of the search for orphans, which may wait: what comes meanwhile is not this job's.
  const range = await rangeOf(manager, work);
  const found = compare(work, range.before, range.now);
  const own = work.databaseBefore === undefined ? ownPackages(context, range) : undefined;
  const came = found.came.filter((name) => own?.has(name) !== false);
  findings.write(context, { came, half: [...found.half] });
  await attempt(context, async () => {
    const orphans = await around.removeOrphans(context, job.startedAt ?? job.createdAt);
    if (orphans.length === 0) return;
    const lost = orphans.join(', ');
    await note(`files of ${lost} are removed: ${manager.name} did not get to record them`);
  });
}

/** `begun` is of the last transaction: it says nothing of others in the same job. */
function isUntouched(context: StepContext, { databaseBefore }: RepairWork): boolean {
  const isOnly = databaseBefore === undefined;
  return context.job.runs === 0 || (isOnly && !begun.read(context).isBegun);
}

function isAccepted(context: StepContext, work: RepairWork): boolean {
  return work.isAccepted?.(context) ?? accepted.read(context).isDone;
}

function compare({ removesWhatCame }: RepairWork, before: PackageDatabase, now: PackageDatabase) {
  const came = removesWhatCame ? packagesThatCame(before, now) : [];
  const half = halfInstalled(before, now).map(({ name }) => name);
  return { came, half: half.filter((name) => !came.includes(name)) };
}

async function report({ manager }: PackageTools, context: StepContext): Promise<void> {
  const { came, half } = findings.read(context);
  const { note } = context;
  const now = await manager.installed();
  const stuck = [
    ...came.filter((name) => isPresent(now.get(name))),
    ...half.filter((name) => now.get(name)?.state !== 'installed'),
  ];
  if (stuck.length > 0) {
    await note(`${stuck.join(', ')} could not be put right and stays as ${manager.name} left it`);
  } else if (came.length > 0) {
    await note(`${came.join(', ')} is removed again: nothing stays half installed`);
  }
}

/** Reports the packages that the job has left changed after the repair. */
async function reportLeft({ manager }: PackageTools, context: StepContext, work: RepairWork) {
  if (isUntouched(context, work)) return;
  const { before, now } = await rangeOf(manager, work);
  // After an accepted change the database of before is overwritten with the job's own outcome.
  if (!isAccepted(context, work)) context.reportChanged(changedPackages(before, now));
}

async function rangeOf({ installed, around }: PackageManager, { databaseBefore }: RepairWork) {
  const now = await installed();
  return { before: (await databaseBefore?.()) ?? (await around.databaseBefore()) ?? now, now };
}

/** Nothing came or is half installed that was not accepted: the database has the last word. */
async function acceptIfComplete(
  { manager: { around } }: PackageTools,
  context: StepContext,
  { isComplete }: RepairWork,
): Promise<void> {
  const { job, note, callDone } = context;
  const found = findings.read(context);
  if (job.verdict?.state !== 'interrupted' || job.runs === 0) return;
  if (lasting.read(context).isRestored) return;
  if (found.damage !== undefined || !isNothing(found)) return;
  if (!(await isComplete(context))) return;
  await around.accept();
  await note('all of it had been done before');
  callDone();
}
