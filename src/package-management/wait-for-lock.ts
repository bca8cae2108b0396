import { setTimeout as delay } from 'node:timers/promises';
import type { StepContext } from '../jobs/plan.ts';
import { failureError } from './failure.ts';

/** How long a job waits while somebody else changes packages, and how often it looks. */
export const LOCK_LIMIT_MS = 10 * 60_000;
export const LOCK_PAUSE_MS = 200;

/**
 * Waits until nobody holds the lock of the package manager, and says so.
 * @param purpose what cannot be done meanwhile
 * @param findHolder answers as `lockHolderOf` does
 * @returns whether somebody held it
 * @throws DepotError command_failed after ten minutes
 */
export async function waitForLock(
  wait: { purpose: string; file: string; findHolder: () => Promise<number | undefined> },
  { note, signal }: Pick<StepContext, 'note' | 'signal'>,
): Promise<boolean> {
  const { purpose, file, findHolder } = wait;
  // By a clock that is never set: a router's time of day jumps by decades when it learns it.
  const deadline = performance.now() + LOCK_LIMIT_MS;
  let isNoted = false;
  for (let holder = await findHolder(); holder !== undefined; holder = await findHolder()) {
    const who = holder === 0 ? 'another process' : `process ${holder}`;
    if (performance.now() > deadline) {
      const reason = `${who} has held ${file} for ${LOCK_LIMIT_MS / 60_000} minutes`;
      throw failureError(purpose, { code: 'locked', reason });
    }
    if (!isNoted) await note(`waiting: ${who} holds ${file}`);
    isNoted = true;
    await delay(LOCK_PAUSE_MS, undefined, { signal });
  }
  return isNoted;
}

/** What begins in one step of a job and ends in a later one, beside what is between. */
export interface Ahead<Result> {
  begin: (context: StepContext) => void;
  /** Awaits the work for the job; begins it now if that was not done ahead. */
  end: (context: StepContext) => Promise<Result>;
}

/** One result at a time is enough: one job at a time changes packages. */
export function ahead<Result>(work: (context: StepContext) => Promise<Result>): Ahead<Result> {
  let pending: { jobId: string; result: Promise<Result> } | undefined;
  const begin = (context: StepContext): Promise<Result> => {
    if (pending?.jobId === context.job.id) return pending.result;
    const result = work(context);
    // The caller that ends the wait gets the error.
    result.catch(() => undefined);
    pending = { jobId: context.job.id, result };
    return result;
  };
  return {
    begin: (context) => void begin(context),
    end: (context) => {
      const result = begin(context);
      pending = undefined;
      return result;
    },
  };
}
