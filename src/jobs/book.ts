import { isEnded, type Job, type Lane } from './job.ts';
import type { Journal } from './journal.ts';

/** All jobs on record, and among them quickly the newest that works on something. */
export interface Book {
  /** Resolves when the job is on record; a job that cannot be recorded is not in the book. */
  add: (job: Job) => Promise<void>;
  /** Resolves when the record of a job that was added is on the medium. */
  recorded: (id: string) => Promise<void>;
  /** Takes note that a job has ended: new requests are no longer compared with it. */
  close: (job: Job) => void;
  forget: (id: string) => Promise<void>;
  get: (id: string) => Job | undefined;
  /** Oldest first. */
  all: () => Job[];
  /** The newest job that has not ended on the same subject. */
  newestOn: (request: { lane: Lane; subject: string }) => Job | undefined;
}

export function createBook(journal: Journal): Book {
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
    all: () => [...jobs.values()],
    // A job that has just ended is still here while its end is being written.
    newestOn: (request) => open.get(keyOf(request))?.findLast((job) => !isEnded(job.state)),
  };
}

function keyOf({ lane, subject }: { lane: Lane; subject: string }): string {
  return `${lane} ${subject}`;
}
