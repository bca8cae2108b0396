import * as v from 'valibot';
import { metaPackageOf } from '../../../package-management/names.ts';
import type { PackageTools } from '../../../package-management/package-tools.ts';
import type { Fleet } from '../agent/fleet.ts';
import type { Work } from '../rollout/work.ts';
import type { Baseline } from './baseline.ts';
import type { KeptPackages } from '../../../package-management/transaction/kept-packages.ts';
import { slots, type Remembering } from '../../../jobs/memory.ts';

/** What the job of an action works with. */
export interface FleetJobTools
  extends
    PackageTools,
    Pick<Fleet, 'paths' | 'scriptEnvironment' | 'settings' | 'records' | 'downloads'> {
  baseline: Baseline;
  kept: KeptPackages;
  /** Asks the server anew, with that token if one is given. @throws DepotError if that fails */
  reach: (token?: string) => Promise<void>;
  /** What the server knows of the device. */
  attributes: () => Promise<Readonly<Record<string, string>>>;
  /** Stops a job, as somebody stops a task. */
  stop: (jobId: string) => Promise<unknown>;
}

/** What the job of one action does; `key` names its record. */
export interface Task {
  work: Work;
  key: string;
}

/** What a name may stand for: the meta package of an app, or the package of that name. */
export function packagesNamed(name: string): string[] {
  return [metaPackageOf(name), name];
}

/** The job's own note that all of the action is done. */
export const succeeded = slots('the action', { isDone: v.optional(v.boolean(), false) });

/** The action's own record has it first: the power may go before the job's has, too. */
export function hasSucceeded(
  { records }: Pick<FleetJobTools, 'records'>,
  key: string,
  context: Remembering,
): boolean {
  return succeeded.read(context).isDone || records.find(key)?.end?.result === 'success';
}

/** How ids of the steps begin that belong to the operator's programs. */
export const PROGRAM_STEPS = 'program-';

const begun = slots('the programs', { programs: v.optional(v.array(v.string()), []) });

/** Labels of the programs that the job has begun: what those change is nobody's to put back. */
export function begunPrograms(job: Remembering): string[] {
  return begun.read(job).programs;
}

export function rememberProgram(context: Remembering, label: string): void {
  begun.write(context, { programs: [...new Set([...begunPrograms(context), label])] });
}
