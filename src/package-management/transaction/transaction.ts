import * as v from 'valibot';
import { DepotError, reasonOf } from '../../errors.ts';
import type { Command } from '../../device/command.ts';
import { changedPackages } from '../half-installed.ts';
import { EXPLAINED_BYTES, failureError, lastWords, plainLines, type Failure } from '../failure.ts';
import type { PackageDatabase } from '../database.ts';
import type { PackageChange, PackageManager } from '../manager.ts';
import type { Job } from '../../jobs/job.ts';
import {
  retryFrom,
  type Act,
  type CommandStep,
  type FormerIds,
  type Step,
  type StepContext,
} from '../../jobs/plan.ts';
import { FORMER_REPAIR, type IsComplete } from './rollback.ts';
import type { PackageTools } from '../tools.ts';
import { NOT_INSTALLED_REMEDY } from '../problem.ts';

/**
 * What every job does that changes packages: choose, prepare, run the package manager, judge by the
 * package database.
 */
export function changeSteps(tools: PackageTools, work: ChangeWork): Step[] {
  const { manager } = tools;
  const { verb, choose, command } = work;
  const changeIn = ({ memory }: StepContext): PackageChange | undefined => {
    const { names, file } = readChosen(memory);
    if (file !== undefined) return { verb, names, file };
    return names.length === 0 ? undefined : { verb, names };
  };
  const commandFor = (context: StepContext): Command | undefined => {
    const change = changeIn(context);
    return change === undefined ? undefined : manager.commands[verb](change.names);
  };
  const before = manager.around.before(changeIn);
  return [
    ...(manager.around.first ?? []),
    { id: 'choose', label: 'choose', act: (context) => choose(context).then(() => undefined) },
    ...before,
    {
      id: verb,
      label: verb,
      mustSucceed: false,
      command: command ?? commandFor,
      ...supervision(manager.around),
    },
    ...(manager.around.after ?? []),
    judgeStep(tools, work, before[0]),
    ...manager.around.cleanUp(),
  ];
}

/** For each step whose command runs the package manager. */
function supervision({ supervise }: PackageManager['around']): Pick<CommandStep, 'supervise'> {
  return supervise === undefined ? {} : { supervise };
}

function judgeStep(
  { manager, catalog }: PackageTools,
  { purpose, isForeign, judge, record }: ChangeWork,
  prepare: Act,
): Act {
  const { around, installed } = manager;
  return {
    id: 'judge',
    label: 'judge',
    act: async (context) => {
      if (await around.wasShutOut(context)) return retryFrom(prepare);
      const damage = await around.mend(context);
      const [after, remembered] = await Promise.all([
        installed(),
        around.databaseBefore(),
        catalog.refresh(),
      ]);
      const before = remembered ?? after;
      const changed = [...(context.job.packages ?? []), ...changedPackages(before, after)];
      context.reportChanged([...new Set(changed)]);
      const shortfall =
        damage ?? judge(after, readChosen(context.memory), { job: context.job, before });
      if (shortfall !== undefined) {
        const program = isForeign === true ? undefined : manager;
        throw await explained(program, context, { purpose, shortfall });
      }
      await record?.(after, { job: context.job, before });
      context.memory.isDone = true;
      // Whatever comes of it, the job has done what it is for; the next one keeps a copy of its
      // own.
      await around
        .accept()
        .catch(async (error: unknown) => context.note(reasonOf(error)).catch(() => undefined));
      return undefined;
    },
  };
}

/** For the repair of such a job: judges it as its own step would have. */
export function completeness({ manager }: PackageTools, work: ChangeWork): IsComplete {
  return async ({ job, memory }) => {
    const choice = v.safeParse(chosen, memory);
    if (!choice.success) return false;
    const after = await manager.installed();
    const before = (await manager.around.databaseBefore()) ?? after;
    if (work.judge(after, choice.output, { job, before }) !== undefined) return false;
    await work.record?.(after, { job, before });
    return true;
  };
}

/** The ids of these steps at the indices that records of format 1 hold, `more` behind them. */
export function formerIds(verb: ChangeWork['verb'], ...more: string[]): FormerIds {
  return { steps: ['choose', 'prepare', verb, 'judge', ...more], repair: FORMER_REPAIR };
}

/** What one kind of job puts into these steps. */
export interface ChangeWork {
  verb: 'install' | 'remove' | 'upgrade';
  /** What the job is for, as it stands in messages: `install demo`. */
  purpose: string;
  /** Whether its command is a program of the owner's, which prints what it likes. */
  isForeign?: boolean;
  choose: (context: StepContext) => Promise<void>;
  /** Default: the package manager with the verb and the names chosen, if there are any. */
  command?: (context: StepContext) => Promise<Command | undefined>;
  /**
   * @returns what the job failed to do, if it did, from the package database alone: package
   *   managers' exit codes are wrong both ways. A failure if the database tells why, too
   */
  judge: (after: PackageDatabase, choice: Chosen, work: Work) => Shortfall | Failure | undefined;
  /** What is put on record once the job is judged well; safe to do again. */
  record?: (after: PackageDatabase, work: Work) => Promise<void>;
}

interface Work {
  job: Readonly<Job>;
  /** The database as it was before the command. */
  before: PackageDatabase;
}

const chosen = v.object({
  names: v.array(v.string()),
  expected: v.optional(v.record(v.string(), v.string())),
  file: v.optional(v.object({ path: v.string(), name: v.string() })),
});

/** What a plan decided to work on, kept in the job so that it is decided once. */
export type Chosen = v.InferOutput<typeof chosen>;

export function readChosen(memory: StepContext['memory']): Chosen {
  return v.parse(chosen, memory);
}

/** Keeps the choice for the steps behind, and shows the command that it leads to. */
export function remember(
  { memory, show }: StepContext,
  { commands }: PackageManager,
  { expected, ...change }: PackageChange & Pick<Chosen, 'expected'>,
): void {
  Object.assign(memory, { names: change.names, ...(expected === undefined ? {} : { expected }) });
  show(commands.shown(change));
}

/** What is not as it should be after a command. */
export interface Shortfall {
  /** As a clause: `demo-app is not installed`. */
  reason: string;
  /** The packages that it is about. */
  names: readonly string[];
  /** Why, if the command ended well and said nothing of it. */
  likely?: Failure;
  /** The change whose plan may tell why, if nothing else does. */
  change?: PackageChange;
}

/**
 * Why a job's command did not do what it is for: what the database tells, else what the package
 * manager printed, else its last line.
 * @param manager undefined if the command was a program of the owner's
 * @param purpose `install demo`
 */
export async function explained(
  manager: Pick<PackageManager, 'name' | 'explain' | 'preview'> | undefined,
  context: Pick<StepContext, 'lastPrinted' | 'job'>,
  { purpose, shortfall }: { purpose: string; shortfall: Shortfall | Failure },
): Promise<DepotError> {
  if ('code' in shortfall) return failureError(purpose, shortfall);
  const { reason, names, likely, change } = shortfall;
  const output = await context.lastPrinted(EXPLAINED_BYTES).catch(() => '');
  // A hint: that it cannot be had is no reason to say less.
  const said = await manager?.explain({ output, names }).catch(() => undefined);
  if (said !== undefined) return failureError(purpose, said);
  if ((context.job.lastExitCode ?? 0) === 0) {
    if (likely !== undefined) return failureError(purpose, likely);
    const obstacle = change && (await obstacleTo(manager, change));
    if (obstacle !== undefined) return obstacle;
  }
  const words = lastWords(plainLines(output));
  const last = words === undefined ? '' : `; its last line is ${words}`;
  if (manager === undefined) {
    return failureError(purpose, {
      code: 'script_failed',
      reason: `${reason}${last}`,
      remedy: 'Read the end of the task log for what the program complains about.',
    });
  }
  return failureError(purpose, {
    code: 'unknown',
    reason: `${reason}; ${manager.name} ${endingOf(context.job.lastExitCode)}${last}`,
  });
}

async function obstacleTo(
  manager: Pick<PackageManager, 'preview'> | undefined,
  change: PackageChange,
): Promise<DepotError | undefined> {
  const plan = await manager?.preview(change).catch(() => undefined);
  const [problem] = plan?.problems ?? [];
  if (problem === undefined) return undefined;
  const { code, message, remedy } = problem;
  return new DepotError('command_failed', message, { explanation: { code, remedy } });
}

/** A shell says 128 and the number of a signal. */
function endingOf(exitCode = 0): string {
  return exitCode > 128 && exitCode <= 192
    ? `was ended by signal ${exitCode - 128}`
    : `ended with exit code ${exitCode}`;
}

export function notInstalled(purpose: string, name: string): DepotError {
  return failureError(purpose, {
    code: 'not_found',
    package: name,
    reason: 'it is not installed',
    remedy: NOT_INSTALLED_REMEDY,
  });
}
