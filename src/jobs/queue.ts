import { randomBytes } from 'node:crypto';
import { DepotError, reasonOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { isEnded, unixNow, type Job, type Lane, type Submission } from './job.ts';
import { createBook, type Book } from './book.ts';
import type { Journal } from './journal.ts';
import { createLanes, type Lanes } from './lanes.ts';
import type { TaskLogs } from './log.ts';
import { adoptIndex, moveTo } from './place.ts';
import type { Plan } from './plan.ts';
import { jobsToForget, type KeepLimits } from './pruning.ts';
import { ENDED_WITHOUT_CODE, type Runner } from './runner.ts';

/**
 * The lanes of jobs. Invariants:
 *  - a lane runs at most one job, and takes its jobs in the order in which they were accepted;
 *  - an accepted job is on record before its id is given away, and no id is given twice;
 *  - of two jobs on the same subject the later one decides: it is the one that a new request is
 *    compared with;
 *  - a job that has not ended is never forgotten.
 */
export interface Queue {
  /** Answers at once; the job runs when its turn comes. */
  submit: (request: JobRequest) => Promise<Submission>;
  get: (id: string) => Job | undefined;
  /** Oldest first. */
  all: () => Job[];
  newest: (lane: Lane) => Job | undefined;
  /** Drops a queued job, stops a running one; false where there is no such job. */
  stop: (id: string) => Promise<boolean>;
  /** Puts on record that the end of a job has been seen; one that has not ended is let be. */
  dismiss: (id: string) => Promise<void>;
  /** Takes up what a daemon before this one left. */
  resume: () => void;
  /** No job begins any more; those under way are left alone. */
  close: () => void;
  /** Called whenever a job was added or changed its state. Returns how to end that. */
  onChange: (listener: (job: Job) => void) => () => void;
}

export interface JobRequest {
  kind: string;
  lane: Lane;
  subject: string;
  params: Record<string, string>;
  command: string;
}

export interface QueueOptions {
  journal: Journal;
  logs: TaskLogs;
  log: Log;
  runner: Runner;
  planOf: (job: Job) => Plan;
  /** Whether two kinds of jobs on the same subject undo each other. */
  contradicts: (kind: string, other: string) => boolean;
  limits: () => KeepLimits;
}

export function createQueue(options: QueueOptions): Queue {
  const { logs, runner } = options;
  const book = createBook(options.journal);
  const listeners = new Set<(job: Job) => void>();
  const announce = (job: Job): void => {
    logs.wake(job.id);
    for (const listener of listeners) listener(job);
  };
  const lanes = createLanes(async (job) => {
    const running = runner.run(job);
    announce(job);
    await running;
    await settle(options, job);
    book.close(job);
    announce(job);
    await prune(options, book);
  });

  const accept = async (request: JobRequest): Promise<Submission> => {
    const job = newJob(request);
    showPlace(options, job);
    await book.add(job);
    announce(job);
    // Somebody may have dropped it while it was being written.
    if (job.state === 'queued') lanes.add(job);
    return { job, isNew: true };
  };

  return {
    submit: async (request) => {
      if (lanes.isClosed()) {
        throw new DepotError('unavailable', 'cannot take a job: the daemon is stopping');
      }
      const last = book.newestOn(request);
      if (last?.state === 'queued' && options.contradicts(last.kind, request.kind)) {
        return { conflict: last };
      }
      if (last === undefined || !isSame(last, request)) return accept(request);
      await book.recorded(last.id);
      return { job: last, isNew: false };
    },
    get: book.get,
    all: book.all,
    newest: (lane) => book.all().findLast((job) => job.lane === lane),
    stop: async (id) => {
      const job = book.get(id);
      if (job === undefined) return false;
      if (isEnded(job.state)) return true;
      if (job.state === 'running') runner.stop(job);
      else drop({ lanes, book }, job);
      await save(options, job);
      announce(job);
      return true;
    },
    dismiss: (id) => dismiss(options, book.get(id)),
    resume: () => {
      for (const job of book.all()) adoptPlace(options, job);
      for (const job of leftOvers(book.all())) lanes.add(job);
      void logs
        .removeUnknown((id) => book.get(id) !== undefined)
        .catch((error: unknown) =>
          options.log.error({ reason: reasonOf(error) }, 'old task logs not removed'),
        )
        .then(() => prune(options, book));
    },
    close: lanes.close,
    onChange: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
  };
}

function newJob(request: JobRequest): Job {
  const id = randomBytes(16).toString('hex');
  return {
    ...request,
    id,
    state: 'queued',
    createdAt: unixNow(),
    phase: 'steps',
    done: [],
    runs: 0,
    resumes: 0,
    memory: {},
  };
}

/** A plan that cannot be made fails its job when it runs; until then the job shows no steps. */
function showPlace({ planOf }: QueueOptions, job: Job): void {
  try {
    moveTo(job, planOf(job).steps, 0);
    delete job.at;
  } catch {
    job.stepCount = 0;
  }
}

function adoptPlace(options: QueueOptions, job: Job): void {
  if (job.formerStep === undefined) return;
  try {
    adoptIndex(job, options.planOf(job));
  } catch {
    // Of a kind that this version does not know: the runner says so if the job is to go on.
    delete job.formerStep;
  }
  if (job.state === 'queued') showPlace(options, job);
}

/** What a daemon before this one did not get done: first what it was at, then what waited. */
function leftOvers(jobs: Iterable<Job>): Job[] {
  const left = [...jobs].filter(({ state }) => !isEnded(state));
  return [
    ...left.filter(({ state }) => state === 'running'),
    ...left.filter(({ state }) => state === 'queued'),
  ];
}

/**
 * A record that cannot be written must not stop the lane: the job has ended all the same. @returns
 * whether it was written
 */
async function save({ journal, log }: QueueOptions, job: Job): Promise<boolean> {
  return journal.save(job).then(
    () => true,
    (error: unknown) => {
      log.error({ task: job.id, reason: reasonOf(error) }, 'job record not written');
      return false;
    },
  );
}

/**
 * Puts the end on record; only then may the exit files go, since a daemon that finds no end reads
 * them again.
 */
async function settle(options: QueueOptions, job: Job): Promise<void> {
  const { logs, log } = options;
  const { id, kind, subject, state, exitCode, error } = job;
  job.logBytes = (await logs.size(id)) ?? 0;
  if (await save(options, job)) {
    await logs
      .removeExitFiles(id, job.runs)
      .catch((reason: unknown) =>
        log.error({ task: id, reason: reasonOf(reason) }, 'exit files not removed'),
      );
  }
  log.info({ task: id, kind, subject, state, exitCode, error }, 'job ended');
}

async function prune({ logs, log, limits }: QueueOptions, book: Book): Promise<void> {
  for (const id of jobsToForget(book.all(), limits())) {
    try {
      await book.forget(id);
      await logs.remove(id);
    } catch (error) {
      log.error({ task: id, reason: reasonOf(error) }, 'job record not removed');
    }
  }
}

function drop({ lanes, book }: { lanes: Lanes; book: Book }, job: Job): void {
  Object.assign(job, {
    state: 'stopped',
    exitCode: ENDED_WITHOUT_CODE,
    error: 'stopped on request, before it began',
    stoppedAt: unixNow(),
  });
  lanes.remove(job);
  book.close(job);
}

async function dismiss(options: QueueOptions, job: Job | undefined): Promise<void> {
  if (job === undefined || !isEnded(job.state)) return;
  job.isDismissed = true;
  await save(options, job);
}

function isSame(job: Job, { kind, params }: JobRequest): boolean {
  const names = new Set([...Object.keys(job.params), ...Object.keys(params)]);
  return (
    job.kind === kind &&
    job.stopRequested !== true &&
    [...names].every((name) => job.params[name] === params[name])
  );
}
