import { reasonOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { isEnded, type Job } from './job.ts';
import type { Journal } from './journal/journal.ts';
import type { TaskLogs } from './task-logs.ts';
import { jobsToForget, type RetentionLimits } from './pruning.ts';

export type JobIndex = ReturnType<typeof createJobIndex>;

/** All jobs on record, and among them quickly the newest that works on something. */
export function createJobIndex(journal: Journal) {
  const jobs = new Map(journal.jobs.map((job) => [job.id, job]));
  const open = new Map<string, Job[]>();
  const recording = new Map<string, Promise<void>>();
  const enter = (job: Job): void => {
    open.set(keyOf(job), [...(open.get(keyOf(job)) ?? []), job]);
  };
  const close = (job: Job): void => {
    const rest = (open.get(keyOf(job)) ?? []).filter((other) => other !== job);
    if (rest.length === 0) open.delete(keyOf(job));
    else open.set(keyOf(job), rest);
  };
  for (const job of jobs.values()) if (!isEnded(job.state)) enter(job);

  return {
    /** Resolves when the job is on record; a job that cannot be recorded is not in the index. */
    add: async (job: Job): Promise<void> => {
      jobs.set(job.id, job);
      enter(job);
      const recorded = journal.save(job);
      recording.set(job.id, recorded);
      try {
        await recorded;
      } catch (error) {
        jobs.delete(job.id);
        close(job);
        throw error;
      } finally {
        recording.delete(job.id);
      }
    },
    /** Resolves when the record of a job that was added is on the medium. */
    recorded: (id: string): Promise<void> => recording.get(id) ?? Promise.resolve(),
    /** New requests are no longer compared with the job: it has ended. */
    close,
    forget: async (id: string): Promise<void> => {
      jobs.delete(id);
      await journal.forget(id);
    },
    get: (id: string): Job | undefined => jobs.get(id),
    /** Oldest first. One that is not on record yet may still be refused, so that nobody sees it. */
    all: (): Job[] => [...jobs.values()].filter(({ id }) => !recording.has(id)),
    /** The newest job that has not ended on the same subject. */
    newestOn: (request: Pick<Job, 'lane' | 'subject'>): Job | undefined =>
      open.get(keyOf(request))?.findLast((job) => !isEnded(job.state)),
  };
}

function keyOf({ lane, subject }: Pick<Job, 'lane' | 'subject'>): string {
  return `${lane} ${subject}`;
}

export interface Pruned {
  isNeeded: (job: Job) => boolean;
  /** Called for each job that is forgotten. */
  forgotten: (id: string) => void;
}

export async function prune(
  { logs, log, limits }: { logs: TaskLogs; log: Log; limits: () => RetentionLimits },
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
