import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lockDescriptor } from '../../../device/exec.ts';
import { lockHolderOf } from '../../../device/lock-holder.ts';
import { failureError } from '../../failure.ts';
import type { StepContext } from '../../../jobs/plan.ts';

/** How long a job waits while somebody else changes packages, and how often it looks. */
const LOCK_LIMIT_MS = 10 * 60_000;
const LOCK_PAUSE_MS = 200;

/**
 * Waits until nobody holds apk's lock, and says so: a plan made while somebody else changes
 * packages is not what would happen.
 * @returns whether somebody held it
 * @throws DepotError unavailable after ten minutes
 */
export async function waitForLock(
  file: string,
  { note, signal }: Pick<StepContext, 'note' | 'signal'>,
): Promise<boolean> {
  // Not the time of day: a router's jumps by decades when it learns it.
  const deadline = performance.now() + LOCK_LIMIT_MS;
  let isNoted = false;
  for (
    let holder = await lockHolderOf(file, 'FLOCK');
    holder !== undefined;
    holder = await lockHolderOf(file, 'FLOCK')
  ) {
    const who = holder === 0 ? 'another process' : `process ${holder}`;
    if (performance.now() > deadline) {
      throw failureError('run apk', {
        code: 'locked',
        reason: `${who} has held ${file} for ${LOCK_LIMIT_MS / 60_000} minutes`,
      });
    }
    if (!isNoted) await note(`waiting: ${who} holds ${file}`);
    isNoted = true;
    await delay(LOCK_PAUSE_MS, undefined, { signal });
  }
  return isNoted;
}

/** A check of the lock beside other work: the kernel's table takes milliseconds to be locked. */
export interface LockCheck {
  begin: (context: StepContext) => void;
  /** What `waitForLock` answers; begins now if it was not begun. */
  end: (context: StepContext) => Promise<boolean>;
}

/** For the one job at a time that changes packages. */
export function createLockCheck(file: string): LockCheck {
  let pending: { jobId: string; wait: Promise<boolean> } | undefined;
  const begin = (context: StepContext): Promise<boolean> => {
    if (pending?.jobId === context.job.id) return pending.wait;
    const wait = waitForLock(file, context);
    // Whoever ends the check gets the error.
    wait.catch(() => undefined);
    pending = { jobId: context.job.id, wait };
    return wait;
  };
  return {
    begin: (context) => void begin(context),
    end: (context) => {
      const wait = begin(context);
      pending = undefined;
      return wait;
    },
  };
}

/**
 * Holds apk's lock (flock(2), as apk itself takes it) while something is done that no apk may see
 * half done.
 * @throws DepotError unavailable if it cannot be had within the limit
 */
export async function withLock<Result>(
  file: string,
  environment: Record<string, string>,
  work: () => Promise<Result>,
): Promise<Result> {
  await mkdir(dirname(file), { recursive: true });
  const handle = await open(file, 'a', 0o600);
  try {
    const outcome = await lockDescriptor(handle.fd, { environment, timeoutMs: LOCK_LIMIT_MS });
    if (outcome !== 'locked') {
      throw failureError('run apk', {
        code: 'locked',
        reason: `another program holds ${file}`,
      });
    }
    return await work();
  } finally {
    await handle.close();
  }
}
