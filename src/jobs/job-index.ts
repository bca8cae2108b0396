import type { Job, Lane } from './job.ts';
import type { Journal } from './journal/journal.ts';
import { isEnded } from './states.ts';

/** All jobs on record, and among them quickly the newest that works on something. */
export interface JobIndex {
  /** Resolves when the job is on record; a job that cannot be recorded is not in the index. */
  add: (job: Job) => Promise<void>;
  /** Resolves when the record of a job that was added is on the medium. */
  recorded: (id: string) => Promise<void>;
  /** New requests are no longer compared with the job: it has ended. */
  close: (job: Job) => void;
  forget: (id: string) => Promise<void>;
  get: (id: string) => Job | undefined;
  /** Oldest first. A job that is not on record yet may still be refused, so that nobody sees it. */
  all: () => Job[];
  /** The newest job that has not ended on the same subject. */
  newestOn: (request: { lane: Lane; subject: string }) => Job | undefined;
}

export function createJobIndex(journal: Journal): JobIndex {
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
    add: async (job) => {
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
    recorded: (id) => recording.get(id) ?? Promise.resolve(),
    close,
    forget: async (id) => {
      jobs.delete(id);
      await journal.forget(id);
    },
    get: (id) => jobs.get(id),
    all: () => [...jobs.values()].filter(({ id }) => !recording.has(id)),
    newestOn: (request) => open.get(keyOf(request))?.findLast((job) => !isEnded(job.state)),
  };
}

function keyOf({ lane, subject }: { lane: Lane; subject: string }): string {
  return `${lane} ${subject}`;
}
