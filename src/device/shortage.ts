import { setTimeout as delay } from 'node:timers/promises';
import { isCausedBy, systemCode } from '../errors.ts';

/** Of open(2), read(2) and clone(2): descriptors or memory have run out, whatever was asked for. */
const CODES = ['EMFILE', 'ENFILE', 'ENOMEM'];
const PAUSE_MS = 500;

/** Whether a call failed, at whatever depth, because something had run out for the moment. */
export function isShortage(error: unknown): boolean {
  return isCausedBy(error, CODES) || lacksProcesses(error);
}

/** Only of clone(2): open(2) says the same of a file that its owner has a lease on. */
function lacksProcesses(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const isStart = 'syscall' in cause && String(cause.syscall).startsWith('spawn');
    if (isStart && systemCode(cause) === 'EAGAIN') return true;
  }
  return false;
}

/** For a `catch`: what failed has this; a shortage, which says nothing of it, stays. */
export function unlessShort<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (isShortage(error)) throw error;
    return value;
  };
}

/**
 * Does the work until no shortage keeps it back. It must be safe to do again, and sees for itself
 * whether it is still wanted.
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
