import * as v from 'valibot';
import { slots, type Remembering } from '../../../jobs/memory.ts';
import type { ActionRecords } from '../records/records.ts';

/** The job's own note that all of the action is done. */
export const succeeded = slots('the action', { isDone: v.optional(v.boolean(), false) });

/**
 * Whether all of the action is done. The action's own record has it first: the power may go before
 * the job's has, too.
 */
export function hasSucceeded(
  { records }: { records: ActionRecords },
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
