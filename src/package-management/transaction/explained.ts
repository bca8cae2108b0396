import { DepotError } from '../../errors.ts';
import type { StepContext } from '../../jobs/plan.ts';
import { EXPLAINED_BYTES, failureError, lastWords, plainLines, type Failure } from '../failure.ts';
import type { PackageChange, PackageManager } from '../manager.ts';

/** What is not as it should be after a command. */
export interface Shortfall {
  /** As a clause: `demo-app is not installed`. */
  reason: string;
  /** The packages that it is about. */
  names: readonly string[];
  /** Whether the exit code is that of another program than the package manager. */
  isForeign?: boolean | undefined;
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
  const { reason, names, isForeign, likely, change } = shortfall;
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
  const inFull = (text: string): string =>
    words === undefined ? text : `${text}; its last line is ${words}`;
  if (manager === undefined) {
    const remedy = 'Read the end of the task log for what the program complains about.';
    return failureError(purpose, { code: 'script_failed', reason: inFull(reason), remedy });
  }
  const ended = isForeign ? reason : withEnding(reason, manager.name, context.job.lastExitCode);
  return failureError(purpose, { code: 'unknown', reason: inFull(ended) });
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
function withEnding(reason: string, program: string, exitCode = 0): string {
  return exitCode > 128 && exitCode <= 192
    ? `${reason}; ${program} was ended by signal ${exitCode - 128}`
    : `${reason}; ${program} ended with exit code ${exitCode}`;
}
