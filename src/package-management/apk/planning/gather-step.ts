import { retryFrom, type Act } from '../../../jobs/plan.ts';
import type { TransactionSteps } from '../../manager.ts';
import type { Ahead } from '../../wait-for-lock.ts';
import { downloadsOf } from './download.ts';
import { planned, readPlan } from './job-plan.ts';

/** What `before` is given further. */
export type Further = NonNullable<Parameters<TransactionSteps['before']>[2]>;

interface Gathering extends Further {
  lock: Ahead<boolean>;
  fetching: Ahead<boolean>;
}

/**
 * Keeps what goes while what comes is fetched. Where something is kept it has the id and the label
 * of that, by which older records know it.
 */
export function gatherStep(planning: Act, { keep, lock, fetching, ...ready }: Gathering): Act {
  return {
    ...ready,
    id: 'fetch-small',
    label: 'fetch',
    ...keep,
    isRecorded: false,
    act: async (context) => {
      const { changes, own } = readPlan(context);
      const isFetching = downloadsOf(changes, own).length > 0;
      const [isStale, kept, fetched] = await Promise.allSettled([
        isFetching && lock.end(context),
        keep?.act(context),
        fetching.end(context),
      ]);
      if (isStale.status === 'rejected') throw isStale.reason;
      if (isStale.value) return retryFrom(planning);
      if (kept.status === 'rejected') throw kept.reason;
      const isFetched = fetched.status === 'fulfilled' && fetched.value;
      if (isFetched) planned.write(context, { isFetched });
      return undefined;
    },
  };
}
