import { isEnded, unixNow, type Job, type Lane } from './job.ts';

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
  const latest = new Map<Lane, number>();
  const now = unixNow();
  const ended = [...all]
    .filter(({ state }) => isEnded(state))
    .map(({ id, lane, logBytes = 0, state, startedAt, stoppedAt = 0 }) => {
      // A job ranks behind those before it in its lane, also when the clock was set back since.
      // A time to come says nothing: those behind it would rank before all of other lanes.
      const believed = stoppedAt > now ? 0 : stoppedAt;
      // Dropped while it waited: what it waited for ended later, and somebody waits for that.
      if (state === 'stopped' && startedAt === undefined) {
        return { id, logBytes, endedAt: believed - 1 };
      }
      const endedAt = Math.max(believed, latest.get(lane) ?? 0);
      latest.set(lane, endedAt);
      return { id, logBytes, endedAt };
    })
    .reverse()
    .sort((a, b) => b.endedAt - a.endedAt);
  let bytes = 0;
  return ended
    .filter(({ logBytes }, index) => {
      bytes += logBytes;
      return index >= limits.jobs || (index > 0 && bytes > limits.logBytes);
    })
    .map(({ id }) => id);
}
