import * as v from 'valibot';
import { DepotError } from '../../errors.ts';
import type { Command } from '../../device/command.ts';
import type { PackageDatabase } from './package-manager.ts';
import type { Job } from '../../jobs/job.ts';
import { retryFrom, type FormerIds, type Step, type StepContext } from '../../jobs/plan.ts';
import { FORMER_REPAIR } from './rollback.ts';
import { hasLostLock, mendStatus, prepareStep } from './opkg/steps.ts';
import type { PackageTools } from './deps.ts';

/**
 * The road of every job that opkg does the work of: choose, prepare, run opkg, judge by the package
 * database.
 */
export function opkgSteps(
  tools: PackageTools,
  { verb, choose, command, judge, record }: OpkgWork,
): Step[] {
  const { packages, catalog, auto } = tools;
  const prepare = prepareStep(packages);
  const commandFor = ({ memory }: StepContext): Command | undefined => {
    const { names } = v.parse(chosen, memory);
    return names.length === 0 ? undefined : packages.commands[verb](names);
  };
  return [
    { id: 'choose', label: 'choose', act: (context) => choose(context).then(() => undefined) },
    prepare,
    { id: verb, label: verb, mustSucceed: false, command: command ?? commandFor },
    {
      id: 'judge',
      label: 'judge',
      act: async (context) => {
        if (await hasLostLock(context)) return retryFrom(prepare);
        const damage = await mendStatus(packages, context);
        const after = await packages.read();
        const before = (await packages.statusCopy.read()) ?? after;
        await auto.update(before, after);
        await catalog.refresh();
        const failure =
          damage ?? judge(after, v.parse(chosen, context.memory), { job: context.job, before });
        if (failure !== undefined) throw new DepotError('command_failed', failure);
        await record?.(after, { job: context.job, before });
        context.memory.isDone = true;
        // Should the file be damaged before the next job, it comes back with what this one did.
        await packages.statusCopy.save();
        return undefined;
      },
    },
  ];
}

/** The ids of that road at the indices that records of format 1 hold, `more` behind them. */
export function formerIds(verb: OpkgWork['verb'], ...more: string[]): FormerIds {
  return { steps: ['choose', 'prepare', verb, 'judge', ...more], repair: FORMER_REPAIR };
}

/** What one kind of job puts into that road. */
export interface OpkgWork {
  verb: 'install' | 'remove' | 'upgrade';
  choose: (context: StepContext) => Promise<void>;
  /** Default: opkg with the verb and the names chosen, if there are any. */
  command?: (context: StepContext) => Promise<Command | undefined>;
  /**
   * @returns why the job failed, if it did, from the package database alone: opkg's exit code lies
   *   both ways
   */
  judge: (after: PackageDatabase, choice: Chosen, work: Work) => string | undefined;
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
});

/** What a plan decided to work on, kept in the job so that it is decided once. */
export type Chosen = v.InferOutput<typeof chosen>;

/** Keeps the choice for the steps behind, and shows the command that it leads to. */
export function remember({ memory, show }: StepContext, verb: string, choice: Chosen): void {
  Object.assign(memory, choice);
  show(`opkg ${verb} ${choice.names.join(' ')}`);
}
