/** How many wrong attempts in a minute are allowed to whom. */
export interface Limit {
  key: string;
  most: number;
}

/** Counts wrong attempts, in a window that slides. */
export interface AttemptLimit {
  /**
   * Counts an attempt as wrong from its start, so that many at once do not all pass before the
   * first of them fails.
   * @param limits all of them hold; the first is that of the client alone, and who has once logged
   *   in from there is not held to the others
   * @returns 0 if the attempt may go on, else how many seconds the client has to wait; that attempt
   *   is not counted
   */
  begin: (limits: readonly Limit[]) => number;
  /** The newest attempt was right after all. */
  forgive: (limits: readonly Limit[]) => void;
  /** It was neither right nor wrong. */
  cancel: (limits: readonly Limit[]) => void;
}

const WINDOW_MS = 60_000;
/** Beyond this those that have been quiet longest are forgotten. */
const MOST_KEYS = 4096;
/** Few: each may be a name that somebody who may log in has made up. */
const MOST_KNOWN = 32;

/** @param now milliseconds of a clock that is never set back */
export function createAttemptLimit(now: () => number = () => performance.now()): AttemptLimit {
  const attempts = new Map<string, number[]>();
  const known = new Map<string, true>();
  const recent = (key: string): number[] =>
    (attempts.get(key) ?? []).filter((at) => now() - at < WINDOW_MS);
  const setTimes = (key: string, times: number[]): void => {
    attempts.delete(key);
    if (times.length > 0) putNewest(attempts, [key, times], MOST_KEYS);
  };
  const inForce = ([own, ...others]: readonly Limit[]): Limit[] => {
    if (own === undefined) return [];
    return known.has(own.key) ? [own] : [own, ...others];
  };
  const waitMs = ({ key, most }: Limit): number => {
    const times = recent(key);
    const [oldest] = times.slice(-most);
    return oldest === undefined || times.length < most ? 0 : oldest + WINDOW_MS - now();
  };
  const cancel = (limits: readonly Limit[]): void => {
    for (const { key } of limits) setTimes(key, recent(key).slice(0, -1));
  };
  return {
    begin: (limits) => {
      const longestMs = Math.max(0, ...inForce(limits).map(waitMs));
      if (longestMs > 0) return Math.ceil(longestMs / 1000);
      for (const { key } of limits) setTimes(key, [...recent(key), now()]);
      return 0;
    },
    forgive: (limits) => {
      cancel(limits);
      const [own] = limits;
      if (own !== undefined) putNewest(known, [own.key, true], MOST_KNOWN);
    },
    cancel,
  };
}

/** The order is that in which they were last heard of. */
function putNewest<Value>(
  map: Map<string, Value>,
  [key, value]: [string, Value],
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  const [quietest] = map.keys();
  if (map.size > most && quietest !== undefined) map.delete(quietest);
}
