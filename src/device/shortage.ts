import { setTimeout as delay } from 'node:timers/promises';
import { isCausedBy } from '../errors.ts';

/**
 * What open(2), read(2) and clone(2) fail with while the process or the system has run out of
 * descriptors, memory or processes: it says nothing of the thing that was asked for.
 */
const CODES = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'];
const PAUSE_MS = 500;

/** Whether a call failed, at whatever depth, because something had run out for the moment. */
export function isShortage(error: unknown): boolean {
  return isCausedBy(error, CODES);
}

/**
 * Does the work again until no shortage keeps it back. It must be safe to do again, and sees for
 * itself whether it is still wanted.
 * @param limitMs after which the shortage is thrown; the clock starts with the call
 */
export async function outlastShortage<Value>(
  work: () => Promise<Value>,
  limitMs = Infinity,
): Promise<Value> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isShortage(error) || performance.now() > deadline) throw error;
      await delay(PAUSE_MS);
    }
  }
}
