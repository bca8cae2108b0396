import { reasonOf } from '../../errors.ts';
import type { Command } from '../../device/command.ts';
import type { Failure } from '../failure.ts';
import { changedPackages, type PackageDatabase } from '../database.ts';
import type { PackageChange, PackageManager, RefetchNote } from '../manager.ts';
import { chosen, enterTransaction, type Chosen } from '../transaction-slots.ts';
import type { Job } from '../../jobs/job.ts';
import {
  plainAct,
  retryFrom,
  type Act,
  type CommandStep,
  type Plan,
  type Step,
  type StepContext,
} from '../../jobs/plan.ts';
import { explained, type Shortfall } from './explained.ts';
import { reversalSteps } from './reversal.ts';
import { accepted, begun, repairSteps, type IsComplete } from './rollback.ts';
import type { PackageTools } from '../package-tools.ts';
import type { FileScope } from '../undo/file-states.ts';
import { createPercentReader } from './progress.ts';

/** The name of a transaction that is the only one of its job: none stands before its steps' ids. */
export const ONLY = '';

/**
 * What every job does that changes packages: choose, prepare, run the package manager, judge by the
 * package database. Its ids and what its steps leave for each other lie below its name, so that a
 * job may have several, one behind the other.
 * @returns its steps, and the repair of a job that has this transaction alone
 */
export function transaction(tools: PackageTools, name: string, work: ChangeWork): Plan {
  const isComplete = work.isComplete ?? completeness(tools, work);
  const removesWhatCame = work.removesWhatCame === true;
  const repair = repairSteps(tools, { removesWhatCame, isComplete });
  const { behind = [], putsBack } = work;
  const steps = below(name, changeSteps(tools, work, name));
  if (!isKept(name, work)) return { steps: [...steps, ...behind], repair };
  const close = tools.undo.closeStep(work);
  const reversed = { isComplete, isAroundRepair: removesWhatCame, isOfAll: putsBack === 'half' };
  const whole = putsBack ? reversalSteps(tools, repair, reversed) : repair;
  return { steps: [...steps, ...behind, close], repair: [...whole, close] };
}

/** A job of several transactions takes itself back, and a self-upgrade not at all. */
function isKept(name: string, { isHandedOver }: ChangeWork): boolean {
  return name === ONLY && isHandedOver !== true;
}

function changeSteps(tools: PackageTools, work: ChangeWork, name: string): Step[] {
  const { around, commands } = tools.manager;
  const { verb, choose, command, choosesFromFeeds = false } = work;
  const changeIn = (context: StepContext): PackageChange | undefined => {
    const { names, file } = chosen.find(context) ?? NOTHING;
    if (file !== undefined) return { verb, names, file };
    return names.length === 0 ? undefined : { verb, names };
  };
  const commandFor = async (context: StepContext): Promise<Command | undefined> => {
    const change = changeIn(context);
    if (change === undefined) return undefined;
    return { ...commands[verb](change.names), writesDown: await around.roots() };
  };
  const keep = isKept(name, work) ? { keep: keepStep(tools, work, changeIn) } : {};
  const ready = command === undefined ? { readies: verb } : {};
  const before = around.before(changeIn, { ...keep, ...ready });
  const percentOf = createPercentReader();
  return [
    ...(around.first?.(choosesFromFeeds, refetchOf(tools, work)) ?? []),
    plainAct('choose', 'choose', async (context) => {
      begun.write(context, { isBegun: false });
      await choose(context);
    }),
    ...(work.behindChoice ?? []),
    ...before.slice(0, -1),
    ...before.slice(-1).map(thenBegins),
    ...(work.beforeCommand ?? []),
    {
      id: verb,
      label: verb,
      mustSucceed: false,
      command: command ?? commandFor,
      percentIn: (tail, context) =>
        percentOf(tail, tools.expected.find(chosen.find(context)?.names ?? [])),
      ...(work.isHandedOver !== true && around.supervise && { supervise: around.supervise }),
    },
    ...(around.after ?? []),
    judgeStep(tools, work, before[0]),
    ...around.cleanUp(),
  ];
}

/** Lists that have just failed to come are not fetched for what somebody does not find. */
function refetchOf({ manager }: PackageTools, { refetchNote }: ChangeWork) {
  if (refetchNote === undefined) return undefined;
  return async () => ((await manager.lists.isWorthFetching()) ? refetchNote() : undefined);
}

const NOTHING: Chosen = { names: [] };

/** Notes that the change begins: the steps after this one may change packages. */
function thenBegins(step: Step): Step {
  if (!('act' in step)) return step;
  const act: Act['act'] = async (context) => {
    const jump = await step.act(context);
    if (jump !== undefined) return jump;
    begun.write(context, { isBegun: true });
  };
  return { ...step, isRecorded: true, act };
}

function keepStep(
  { undo, manager: { around } }: PackageTools,
  work: ChangeWork,
  changeIn: (context: StepContext) => PackageChange | undefined,
): Act {
  // The plan of `around` is for the verb and its names; what is replaced here is more than that.
  const planned = work.replaces === undefined ? around.planned : undefined;
  return undo.keepStep({ ...work, changeIn: work.replaces ?? changeIn, planned });
}

/** Puts the ids of steps below a name. Each step enters its transaction before it does anything. */
export function below(name: string, steps: readonly Step[]): Step[] {
  const idOf = (id: string): string => (name === ONLY ? id : `${name}-${id}`);
  return steps.map((step, index): Step => {
    const isFirst = index === 0;
    if ('act' in step) {
      const act: Act['act'] = async (context) => {
        enterTransaction(context, name, isFirst);
        const jump = await step.act(context);
        return jump === undefined ? undefined : { retryFrom: idOf(jump.retryFrom) };
      };
      const { readies } = step;
      const ready = readies === undefined ? {} : { readies: idOf(readies) };
      return { ...step, ...ready, id: idOf(step.id), act };
    }
    const command: CommandStep['command'] = (context) => {
      enterTransaction(context, name, isFirst);
      return step.command(context);
    };
    return { ...step, id: idOf(step.id), command };
  });
}

function judgeStep(
  { manager, catalog }: PackageTools,
  { purpose, isForeign, judge, record, beforeCommand }: ChangeWork,
  prepare: Act,
): Act {
  const { around, installed } = manager;
  return plainAct('judge', 'check the result', async (context) => {
    // The kind's own steps before the command (`beforeCommand`) see to a lost lock themselves.
    if (beforeCommand === undefined && (await around.wasShutOut(context))) {
      begun.write(context, { isBegun: false });
      return retryFrom(prepare);
    }
    const damage = await around.mend(context);
    const reading = [installed(), around.databaseBefore(), catalog.refresh()] as const;
    const [after, remembered] = await Promise.all(reading);
    const before = remembered ?? after;
    const changed = [...(context.job.packages ?? []), ...changedPackages(before, after)];
    context.reportChanged([...new Set(changed)]);
    const choice = chosen.find(context) ?? NOTHING;
    const shortfall = damage ?? judge(after, choice, { job: context.job, before });
    if (shortfall !== undefined) {
      const program = isForeign === true ? undefined : manager;
      throw await explained(program, context, { purpose, shortfall });
    }
    await record?.(after, { job: context.job, before });
    accepted.write(context, { isDone: true });
    // Whatever comes of it, the job has done what it is for; the next one keeps its own copy.
    await around
      .accept()
      .catch(async (error: unknown) => context.note(reasonOf(error)).catch(() => undefined));
  });
}

/** For the repair of such a job: judges it as its own step would have. */
export function completeness({ manager }: PackageTools, work: ChangeWork): IsComplete {
  return async (context) => {
    const choice = chosen.find(context);
    if (choice === undefined) return false;
    const { job } = context;
    const after = await manager.installed();
    const before = (await manager.around.databaseBefore()) ?? after;
    if (work.judge(after, choice, { job, before }) !== undefined) return false;
    // On record as it was before, with the files of the version that was to replace it.
    if (choice.names.some((name) => after.get(name)?.isDamaged === true)) return false;
    await work.record?.(after, { job, before });
    return true;
  };
}

/** What one kind of job puts into these steps. */
export interface ChangeWork {
  verb: 'install' | 'remove' | 'upgrade';
  /** What the job is for, as it stands in messages: `install demo`. */
  purpose: string;
  /** Whether its command is a program of the owner's, which prints what it likes. */
  isForeign?: boolean;
  /** Whether it cannot choose without knowing what the feeds offer. */
  choosesFromFeeds?: boolean;
  /** Whether lists that are there are fetched all the same, once; the old ones do if that fails. */
  refetchNote?: RefetchNote;
  /** Whether a repair removes again what came. */
  removesWhatCame?: boolean;
  /** Whether a repair puts back what was replaced; `half`: as far as it is half installed. */
  putsBack?: boolean | 'half';
  choose: (context: StepContext) => Promise<void> | undefined;
  behindChoice?: readonly Step[];
  /** What is replaced, if it is more than the verb does to the names. */
  replaces?: (context: StepContext) => PackageChange;
  /** Files that it may change; default: those below /etc. */
  scope?: () => Promise<FileScope>;
  /** Steps between the preparation and the command. */
  beforeCommand?: readonly Step[];
  /** Default: the package manager with the verb and the names chosen, if there are any. */
  command?: CommandStep['command'];
  behind?: readonly Step[];
  /** Whether that command looks after the package manager itself. */
  isHandedOver?: boolean;
  /**
   * @returns what the job failed to do, if it did, from the package database alone: package
   *   managers' exit codes are wrong both ways. A failure if the database tells why, too
   */
  judge: (after: PackageDatabase, choice: Chosen, work: Work) => Shortfall | Failure | undefined;
  /** What is put on record once the job is judged well; safe to do again. */
  record?: (after: PackageDatabase, work: Work) => Promise<void>;
  /** Whether a job that a power cut broke off is done all the same; default: by `judge`. */
  isComplete?: IsComplete;
}

interface Work {
  job: Readonly<Job>;
  before: PackageDatabase;
}

/** Keeps the choice for the steps behind, and shows the command that it leads to. */
export function remember(
  context: StepContext,
  { commands }: PackageManager,
  { expected, ...change }: PackageChange & Pick<Chosen, 'expected'>,
): void {
  const { names } = change;
  chosen.write(context, { names: [...names], ...(expected === undefined ? {} : { expected }) });
  context.show(commands.shown(change));
}
