import { failureError } from '../../failure.ts';

/**
 * Bounds what one plan takes, whatever feeds say: a hostile one can have everything depend on
 * everything. Steps are counted, not seconds: the same lists have the same plan on each device.
 */
export type PlanBudget = ReturnType<typeof createPlanBudget>;

/** A plan over 11,000 packages, as OpenWrt's feeds have, takes less than half of each. */
export const PLAN_LIMITS = { steps: 400_000, entries: 50_000, depth: 500 } as const;

/**
 * Each function throws a DepotError `plan_too_large` beyond its limit.
 * @param purpose what is planned, such as `install demo`
 */
export function createPlanBudget(purpose: string) {
  const used = { steps: 0, entries: 0, depth: 0 };
  /** What each feed's packages took, in parts of the limits. */
  const shares = new Map<string, number>();
  const use = (kind: keyof typeof PLAN_LIMITS, count: number, feed: string): void => {
    used[kind] += count;
    shares.set(feed, (shares.get(feed) ?? 0) + count / PLAN_LIMITS[kind]);
    if (used[kind] <= PLAN_LIMITS[kind]) return;
    const feeds = [...shares].filter(([name]) => name !== '').sort(([, a], [, b]) => b - a);
    throw tooLarge(purpose, reasonFor(kind), feeds[0]?.[0] ?? '');
  };
  return {
    /** Counts work, in readings of one dependency. @param feed empty: the device's own records */
    spend: (steps: number, feed = ''): void => use('steps', steps, feed),
    /** Counts what stays in memory until the plan is made, in dependencies. */
    keep: (entries: number, feed = ''): void => use('entries', entries, feed),
    /** Begins what a further dependency leads to; `ascend` ends it. */
    descend: (feed = ''): void => use('depth', 1, feed),
    ascend: (): void => {
      used.depth -= 1;
    },
  };
}

/** Made only when it is said: the first grouped number loads Node's tables of all languages. */
function reasonFor(kind: keyof typeof PLAN_LIMITS): string {
  const most = PLAN_LIMITS[kind].toLocaleString('en');
  return {
    steps: `the plan takes more than ${most} steps`,
    entries: `the plan has more than ${most} dependencies`,
    depth: `the plan leads more than ${most} dependencies deep`,
  }[kind];
}

/** @param feed the one that most of it comes from; empty if that is not known */
export function tooLarge(purpose: string, reason: string, feed: string): Error {
  return failureError(purpose, {
    code: 'plan_too_large',
    reason: feed === '' ? reason : `${reason}, most of it by what the feed ${feed} says`,
  });
}
