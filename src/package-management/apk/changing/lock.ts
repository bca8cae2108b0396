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

/**
 * Holds apk's lock (flock(2), as apk takes it) while something is done: no apk sees half of it.
 * @throws DepotError unavailable if it cannot be had within the limit
 */
export async function withLock<Result>(
  file: string,
  environment: Record<string, string>,
  work: () => Promise<Result>,
): Promise<Result> {
  await mkdir(dirname(file), { recursive: true });
  await using handle = await open(file, 'a', 0o600);
  const outcome = await lockDescriptor(handle.fd, { environment, timeoutMs: LOCK_LIMIT_MS });
  const reason = `another program holds ${file}`;
  if (outcome !== 'locked') throw failureError('run apk', { code: 'locked', reason });
  return await work();
}
