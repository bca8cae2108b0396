import * as v from 'valibot';
import type { Remembering } from '../../../jobs/memory.ts';
import { transactionSlots } from '../../memory.ts';
import type { PlannedChange } from './simulation.ts';
import { plannedChange } from '../recovery/transaction-record.ts';

/** What a job is about to do, kept in the job. */
export interface JobPlan {
  changes: PlannedChange[];
  /** The package in the file that is installed, if it is one. */
  own?: string;
  /** In the product's words, for messages: `install NAME`. */
  purpose: string;
}

export const planned = transactionSlots('the plan', {
  plan: v.optional(
    v.object({ changes: v.array(plannedChange), own: v.optional(v.string()), purpose: v.string() }),
    { changes: [], purpose: '' },
  ),
  /** The version of apk's record that it was made by. */
  seen: v.optional(v.string()),
  /** Whether all that it needs is in the cache. */
  isFetched: v.optional(v.boolean(), false),
});

/** One that is not made yet, or of a job without one, has no changes. */
export function readPlan(from: Remembering): JobPlan {
  const { changes, own, purpose } = planned.read(from).plan;
  return {
    changes: changes as PlannedChange[],
    purpose,
    ...(own === undefined ? {} : { own }),
  };
}

export function writePlan(to: Remembering, plan: JobPlan): void {
  planned.write(to, { plan, isFetched: false });
}

export function planOf(
  changes: PlannedChange[],
  purpose: string,
  own: string | undefined,
): JobPlan {
  return { changes, purpose, ...(own === undefined ? {} : { own }) };
}
