/** How many wrong attempts in a minute are allowed to whom. */
export interface Limit {
  key: string;
  most: number;
}

/**
 * All of them hold; the first is that of the client alone, and who has once logged in from there is
 * not held to the others.
 */
export type Limits = readonly [Limit, ...Limit[]];

/** Counts wrong attempts, in a window that slides. */
export type AttemptLimit = ReturnType<typeof createAttemptLimit>;

const WINDOW_MS = 60_000;
const MOST_COUNTERS = 4096;
/** Few: each may be a name that somebody who may log in has made up. */
const MOST_KNOWN = 32;

/** @param now milliseconds of a clock never set back @param mostCounters beyond it clients share */
export function createAttemptLimit(
  now: () => number = () => performance.now(),
  mostCounters = MOST_COUNTERS,
) {
  const counters = createCounters(now, mostCounters);
  /** Keys of clients that got a password right, the latest one last. */
  const known = new Set<string>();
  const waitMs = ({ key, most }: Limit): number => {
    const times = counters.timesOf(key);
    const [oldest] = times.slice(-most);
    return oldest === undefined || times.length < most ? 0 : oldest + WINDOW_MS - now();
  };
  const cancel = (limits: Limits): void => {
    for (const { key } of limits) counters.removeNewest(key);
  };
  return {
    /**
     * Counts an attempt as wrong from its start: many at once do not all pass before one fails.
     * @returns 0 if it may go on, else the seconds to wait; it is not counted then
     */
    begin: (limits: Limits): number => {
      const [own] = limits;
      const inForce = known.has(own.key) ? [own] : limits;
      const longestMs = Math.max(0, ...inForce.map(waitMs));
      if (longestMs > 0) return Math.ceil(longestMs / 1000);
      for (const { key } of limits) counters.add(key);
      return 0;
    },
    /** The newest attempt was right after all. */
    forgive: (limits: Limits): void => {
      cancel(limits);
      const [own] = limits;
      known.delete(own.key);
      known.add(own.key);
      const [quietest = ''] = known;
      if (known.size > MOST_KNOWN) known.delete(quietest);
    },
    /** The password was neither right nor wrong. */
    cancel,
  };
}

/**
 * The space-saving algorithm (Metwally, Agrawal, El Abbadi 2005): if all counters are in use, a new
 * client gets the one with the fewest attempts, and those count for it, too. Invariants:
 *  - no attempt is forgotten within its minute, however many addresses somebody has: a client may
 *    be counted too high, never too low;
 *  - a client without attempts waits for those of others only when every counter is at its limit.
 */
function createCounters(now: () => number, most: number) {
  /** Wrong attempts by client; the one that has been quiet longest comes first. */
  const counters = new Map<string, readonly number[]>();
  const isRecent = (at: number): boolean => now() - at < WINDOW_MS;
  const recent = (times: readonly number[]): readonly number[] => {
    const first = times.findIndex(isRecent);
    return first < 0 ? [] : times.slice(first);
  };
  /** The counter that a new client gets; undefined if there is room for another one. */
  const leastUsed = (): string | undefined => {
    if (counters.size < most) return undefined;
    let least: { key: string; count: number } | undefined;
    for (const [key, times] of counters) {
      const { length: count } = recent(times);
      if (least === undefined || count < least.count) least = { key, count };
      if (count <= 1) break;
    }
    return least?.key;
  };
  const timesOf = (key: string): readonly number[] =>
    recent(counters.get(key) ?? counters.get(leastUsed() ?? '') ?? []);
  return {
    /** When the attempts of the last minute were made, oldest first. */
    timesOf,
    /** Counts an attempt that is made now. */
    add: (key: string): void => {
      const times = [...timesOf(key), now()];
      if (!counters.delete(key)) counters.delete(leastUsed() ?? '');
      counters.set(key, times);
    },
    removeNewest: (key: string): void => {
      const times = recent(counters.get(key) ?? []).slice(0, -1);
      if (times.length === 0) counters.delete(key);
      else if (counters.has(key)) counters.set(key, times);
    },
  };
}
