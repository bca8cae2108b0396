import * as v from 'valibot';
import type { Command } from '../../device/command.ts';
import { KILLED } from '../../jobs/exit-file.ts';
import { isShortage } from '../../device/shortage.ts';
import { reasonOf } from '../../errors.ts';
import { isPresent, type PackageDatabase } from '../database.ts';
import type { Job } from '../../jobs/job.ts';
import { retryFrom, type Act, type Jump, type Step, type StepContext } from '../../jobs/plan.ts';
import { dependentsFirst, isClosedCircle } from '../dependencies.ts';
import { changedPackages, halfInstalled } from '../half-installed.ts';
import type { PackageManager, Repair } from '../manager.ts';
import type { PackageTools } from '../tools.ts';

/** Whether a job has done all that it is for, by the package database and what it left itself. */
export type IsComplete = (context: StepContext) => Promise<boolean>;

/**
 * After a package job that failed, was stopped or was cut off: nothing stays half installed. What
 * came with it goes again, whole or half; what was there before and is half upgraded is configured
 * once more; files go that a killed package manager left and no database knows. A job that had done
 * its main work (an app is installed, its configuration failed) keeps that.
 * @param isComplete for jobs that end with their main work: one that a power cut kept from saying
 *   that it is done is done all the same
 * @param databaseBefore what to go back to, for a job of several transactions; undefined if it has
 *   not come so far
 */
export function repairSteps(
  tools: PackageTools,
  isComplete?: IsComplete,
  databaseBefore = tools.manager.around.databaseBefore,
): Step[] {
  const { manager, catalog } = tools;
  const { around, commands } = manager;
  // If there is nothing to put right, nobody waits for a lock that somebody else holds.
  const prepare: Act = {
    id: 'prepare-repair',
    label: 'prepare repair',
    act: async (context) => {
      const repair = readFindings(context.memory);
      if (!isNothing(repair)) {
        Object.assign(context.memory, await around.beforeRepair(context, repair));
      }
      return undefined;
    },
  };
  // Each of the two commands by itself: the second one's exit code takes the place of the first's.
  const repeatIfShutOut = async (
    context: StepContext,
    work: keyof Repair,
  ): Promise<Jump | undefined> =>
    readFindings(context.memory)[work].length > 0 && (await around.wasShutOut(context))
      ? retryFrom(prepare)
      : undefined;
  return [
    {
      id: 'assess',
      label: 'assess',
      act: async (context) => assess(tools, context, databaseBefore).then(() => undefined),
    },
    prepare,
    {
      id: 'undo',
      label: 'undo',
      mustSucceed: false,
      command: async ({ memory }) => removalCommand(manager, readFindings(memory).came),
    },
    {
      id: 'judge-undo',
      label: 'judge: undo',
      act: async (context) =>
        (await repeatIfShutOut(context, 'came')) ??
        ((await isRemovalUnfinished(tools, context)) ? retryFrom(prepare) : undefined),
    },
    {
      id: 'configure',
      label: 'configure',
      mustSucceed: false,
      command: ({ memory }) => commandFor(readFindings(memory).half, commands.configure),
    },
    ...(around.mendDamage ?? []),
    ...(around.after ?? []),
    {
      id: 'settle',
      label: 'settle',
      act: async (context) => {
        const jump = await repeatIfShutOut(context, 'half');
        if (jump !== undefined) return jump;
        await catalog.refresh();
        await report(tools, context);
        await reportLeft(tools, context, databaseBefore);
        if (isComplete !== undefined) await acceptIfComplete(tools, context, isComplete);
        return undefined;
      },
    },
    ...around.cleanUp(),
  ];
}

/**
 * Whether the removal is to be done again: a package manager that was ended, or that could not
 * write, may have removed files and recorded nothing. Once: what is in its way may stay there.
 */
async function isRemovalUnfinished(
  { manager }: PackageTools,
  { job, memory }: StepContext,
): Promise<boolean> {
  const { came } = readFindings(memory);
  if (came.length === 0 || memory.isUndoneAgain === true) return false;
  const now = await manager.installed();
  const isStuck = came.some((name) => isPresent(now.get(name)));
  if (job.lastExitCode !== KILLED && !isStuck) return false;
  memory.isUndoneAgain = true;
  return true;
}

/** The ids of these steps at the indices that records of format 1 hold. */
export const FORMER_REPAIR = ['assess', 'prepare-repair', 'undo', 'configure', 'settle'];

/** Looked at anew: what stands in the way may have come meanwhile. */
export async function removalCommand(
  { commands, installed }: Pick<PackageManager, 'commands' | 'installed'>,
  names: readonly string[],
): Promise<Command | undefined> {
  if (names.length === 0) return undefined;
  return commands.remove(names, isClosedCircle(await installed(), names));
}

function commandFor(names: string[], build: (names: string[]) => Command): Command | undefined {
  return names.length === 0 ? undefined : build(names);
}

function isNothing({ came, half }: v.InferOutput<typeof findings>): boolean {
  return came.length + half.length === 0;
}

const findings = v.object({
  came: v.optional(v.array(v.string()), []),
  half: v.optional(v.array(v.string()), []),
});

function readFindings(memory: Record<string, unknown>): v.InferOutput<typeof findings> {
  return v.parse(findings, memory);
}

async function assess(
  { manager }: PackageTools,
  context: StepContext,
  databaseBefore: () => Promise<PackageDatabase | undefined>,
): Promise<void> {
  const { job, memory, note } = context;
  const { around } = manager;
  // Nothing ran yet, or all that was to be kept is done.
  if (job.runs === 0 || memory.isDone === true) return;
  const damage = await attempt(context, async () => around.mend(context));
  if (damage !== undefined) {
    memory.damage = damage.reason;
    await note(damage.reason);
  }
  const before = (await databaseBefore()) ?? (await around.databaseBefore());
  const now = await manager.installed();
  // Before orphans are looked for, which may wait: what somebody else installs meanwhile did not
  // come with this job.
  Object.assign(memory, compare(job, before ?? now, now));
  await attempt(context, async () => {
    const orphans = await around.removeOrphans(context, job.startedAt ?? job.createdAt);
    if (orphans.length === 0) return;
    await note(
      `files of ${orphans.join(', ')} are removed: ${manager.name} did not get to record them`,
    );
  });
}

/** What cannot be written now is told, and keeps nothing of what came. */
async function attempt<Value>(
  { note }: StepContext,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  return work().catch(async (error: unknown) => {
    if (isShortage(error)) throw error;
    await note(reasonOf(error)).catch(() => undefined);
    return undefined;
  });
}

function compare(
  { kind }: Readonly<Job>,
  before: PackageDatabase,
  now: PackageDatabase,
): { came: string[]; half: string[] } {
  const present = [...now.values()].filter(isPresent);
  const came =
    kind === 'install' || kind === 'upload' || kind === 'fleet'
      ? present.filter(({ name }) => !isPresent(before.get(name)))
      : [];
  const half = halfInstalled(before, now).filter((entry) => !came.includes(entry));
  return {
    came: dependentsFirst(
      now,
      came.map(({ name }) => name),
    ),
    half: half.map(({ name }) => name),
  };
}

async function report({ manager }: PackageTools, { memory, note }: StepContext): Promise<void> {
  const { came, half } = readFindings(memory);
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

/** What of the job is there after all. */
async function reportLeft(
  { manager }: PackageTools,
  context: StepContext,
  databaseBefore: () => Promise<PackageDatabase | undefined>,
): Promise<void> {
  if (context.job.runs === 0) return;
  const after = await manager.installed();
  const before = (await databaseBefore()) ?? (await manager.around.databaseBefore()) ?? after;
  // Once it was accepted, what was remembered has the job's own changes.
  if (context.memory.isDone !== true) context.reportChanged(changedPackages(before, after));
}

/**
 * Nothing came or is half installed that was not accepted, so that the database has the last word.
 */
async function acceptIfComplete(
  { manager: { around } }: PackageTools,
  context: StepContext,
  isComplete: IsComplete,
): Promise<void> {
  const { job, memory, note, callDone } = context;
  if (job.verdict?.state !== 'interrupted' || job.runs === 0) return;
  if (memory.isTakenBack === true) return;
  if (memory.damage !== undefined || !isNothing(readFindings(memory))) return;
  if (!(await isComplete(context))) return;
  await around.accept();
  await note('all of it had been done before');
  callDone();
}
