import { networkOf } from '../../http/network.ts';

/** Counts wrong attempts by address, in a window that slides. */
export interface AttemptLimit {
  /**
   * Counts an attempt as wrong from its start, so that many at once do not all pass before the
   * first of them fails.
   * @returns 0 where the attempt may go on, else how many seconds the address has to wait; that
   *   attempt is not counted
   */
  begin: (address: string) => number;
  /** The newest attempt of the address was right after all. */
  forgive: (address: string) => void;
}

const WINDOW_MS = 60_000;
const MOST_WRONG = 10;
/** Beyond this the addresses that have been quiet longest are forgotten. */
const MOST_ADDRESSES = 4096;

/** @param now milliseconds of a clock that is never set back */
export function createAttemptLimit(now: () => number = () => performance.now()): AttemptLimit {
  const attempts = new Map<string, number[]>();
  const recent = (key: string): number[] =>
    (attempts.get(key) ?? []).filter((at) => now() - at < WINDOW_MS);
  /** Keeps the addresses in the order in which they were last heard of. */
  const keep = (key: string, times: number[]): void => {
    attempts.delete(key);
    if (times.length > 0) attempts.set(key, times);
    const [quietest] = attempts.keys();
    if (attempts.size > MOST_ADDRESSES && quietest !== undefined) attempts.delete(quietest);
  };
  return {
    begin: (address) => {
      const key = networkOf(address);
      const times = recent(key);
      const [oldest] = times;
      if (oldest !== undefined && times.length >= MOST_WRONG) {
        return Math.ceil((oldest + WINDOW_MS - now()) / 1000);
      }
      keep(key, [...times, now()]);
      return 0;
    },
    forgive: (address) => {
      const key = networkOf(address);
      keep(key, recent(key).slice(0, -1));
    },
  };
}
