import type { StepContext } from '../../../jobs/plan.ts';
import type { ActionRecords } from '../records/records.ts';

/**
 * Whether all of the action is done. The action's own record has it first: the power may go before
 * the job's has, too.
 */
export function hasSucceeded(
  { records }: { records: ActionRecords },
  key: string,
  { memory }: Pick<StepContext, 'memory'>,
): boolean {
  return memory.isDone === true || records.find(key)?.end?.result === 'success';
}
