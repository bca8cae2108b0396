import type { Job } from './job.ts';
import { isEnded } from './states.ts';

/** How much of the past is kept. */
export interface RetentionLimits {
  jobs: number;
  logBytes: number;
}

/**
 * The ended jobs to forget, so that at most `jobs` of them and `logBytes` of their logs are left:
 * the newest stay. The newest one of all stays whatever its size, since somebody is about to read
 * it.
 */
export function jobsToForget(all: Iterable<Job>, limits: RetentionLimits): string[] {
  const ended = [...all]
    .filter(({ state }) => isEnded(state))
    .reverse()
    .sort((a, b) => (b.stoppedAt ?? 0) - (a.stoppedAt ?? 0));
  let bytes = 0;
  return ended
    .filter(({ logBytes = 0 }, index) => {
      bytes += logBytes;
      return index >= limits.jobs || (index > 0 && bytes > limits.logBytes);
    })
    .map(({ id }) => id);
}
