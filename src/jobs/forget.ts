import { reasonOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Job } from './job.ts';
import type { JobIndex } from './job-index.ts';
import type { TaskLogs } from './log.ts';
import { jobsToForget, type RetentionLimits } from './pruning.ts';

interface PruningOptions {
  logs: TaskLogs;
  log: Log;
  limits: () => RetentionLimits;
}

interface Pruned {
  isNeeded: (job: Job) => boolean;
  /** Told of each that goes. */
  forgotten: (id: string) => void;
}

export async function prune(
  { logs, log, limits }: PruningOptions,
  index: JobIndex,
  { isNeeded, forgotten }: Pruned,
): Promise<void> {
  for (const id of jobsToForget(index.all(), limits())) {
    const job = index.get(id);
    if (job !== undefined && isNeeded(job)) continue;
    try {
      await index.forget(id);
      forgotten(id);
      await logs.remove(id);
    } catch (error) {
      log.error({ task: id, reason: reasonOf(error) }, 'job record not removed');
    }
  }
}
