import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { lockDescriptor } from '../../../device/exec.ts';
import { lockHolderOf } from '../../../device/lock-holder.ts';
import { failureError } from '../../failure.ts';
import type { StepContext } from '../../../jobs/plan.ts';
import { LOCK_LIMIT_MS, waitForLock } from '../../wait-for-lock.ts';

/** A plan made while somebody else changes packages is not what would happen. */
export function waitForApk(
  file: string,
  context: Pick<StepContext, 'note' | 'signal'>,
): Promise<boolean> {
  const findHolder = () => lockHolderOf(file, 'FLOCK');
  return waitForLock({ purpose: 'run apk', file, findHolder }, context);
}

/** A check of the lock beside other work: the kernel's table takes milliseconds to be locked. */
export interface LockCheck {
  begin: (context: StepContext) => void;
  /** What `waitForApk` answers; begins now if it was not begun. */
  end: (context: StepContext) => Promise<boolean>;
}

/** For the one job at a time that changes packages. */
export function createLockCheck(file: string): LockCheck {
  let pending: { jobId: string; wait: Promise<boolean> } | undefined;
  const begin = (context: StepContext): Promise<boolean> => {
    if (pending?.jobId === context.job.id) return pending.wait;
    const wait = waitForApk(file, context);
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
