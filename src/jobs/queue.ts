import { DepotError, failureTo, reasonOf } from '../errors.ts';
import { endOrphans, settleJob } from './endings.ts';
import { EXPLANATIONS, facts } from './explanation.ts';
import {
  checkChange,
  ENDED_WITHOUT_CODE,
  isEnded,
  newId,
  unixNow,
  type Job,
  type JobState,
  type Lane,
  type Submission,
} from './job.ts';
import { createJobIndex, prune, type JobIndex, type Pruned } from './job-index.ts';
import type { Journal } from './journal/journal.ts';
import { createLanes, type Lanes } from './lanes.ts';
import { moveTo } from './position.ts';
import type { RetentionLimits } from './pruning.ts';
import type { RunnerOptions } from './run.ts';
import type { Runner } from './runner.ts';

export type Queue = ReturnType<typeof createQueue>;
export type JobRequest = Pick<Job, 'kind' | 'lane' | 'subject' | 'params' | 'command'>;

export interface QueueOptions extends Omit<RunnerOptions, 'save'> {
  journal: Journal;
  runner: Runner;
  /** Whether two kinds of jobs on the same subject undo each other. */
  contradicts: (kind: string, other: string) => boolean;
  limits: () => RetentionLimits;
  /** How many jobs may wait. */
  mostQueued: () => number;
}

/**
 * The lanes of jobs. Invariants:
 *  - a lane runs at most one job, and its jobs in the order in which they were accepted;
 *  - an accepted job is on record before its id is given away, and no id is given twice;
 *  - of two jobs on the same subject the later one decides: it is the one that a new request is
 *    compared with;
 *  - a job that has not ended is never forgotten;
 *  - a job is told as ended when its end is on record. If that is not possible its error says so,
 *    and a job that waits goes on waiting.
 */
export function createQueue(options: QueueOptions) {
  const { logs, runner, journal } = options;
  const index = createJobIndex(journal);
  const listeners = new Set<(job: Job) => void>();
  const pruned: Pruned = { isNeeded: () => false, forgotten: () => undefined };
  const pruneRest = (): Promise<void> => prune(options, index, pruned);
  const announce = (job: Job): void => {
    logs.wake(job.id);
    for (const listener of listeners) listener(job);
  };
  const lanes = createLanes(async (job) => {
    const running = runner.run(job);
    announce(job);
    await settleJob(options, job, await running);
    index.close(job);
    announce(job);
    await pruneRest();
  });
  const beingCancelled = new Map<string, Promise<void>>();

  const accept = createAcceptance(options, { index, lanes }, announce);
  const stop = async (job: Job): Promise<void> => {
    await index.recorded(job.id);
    if (isEnded(job.state)) return;
    if (job.state === 'queued') {
      const cancelling = beingCancelled.get(job.id) ?? cancelQueued(journal, { index, lanes }, job);
      beingCancelled.set(job.id, cancelling);
      await cancelling.finally(() => beingCancelled.delete(job.id));
    } else {
      runner.stop(job);
      await journal.save(job, true);
    }
    announce(job);
  };

  return {
    /**
     * Answers at once; the job runs when its turn comes.
     * @throws DepotError unavailable if too many wait already: each costs memory and flash
     */
    submit: async (request: JobRequest): Promise<Submission> => {
      if (lanes.isClosed()) {
        throw new DepotError('unavailable', 'cannot take a job: the daemon is stopping');
      }
      const last = index.newestOn(request);
      if (last?.state === 'queued' && options.contradicts(last.kind, request.kind)) {
        return { conflict: last };
      }
      if (last === undefined || !isSame(last, request)) return accept(request);
      await index.recorded(last.id);
      return { job: last, isNew: false };
    },
    get: index.get,
    /** Oldest first. */
    all: index.all,
    newest: (lane: Lane): Job | undefined => index.all().findLast((job) => job.lane === lane),
    /**
     * Drops a queued job, stops a running one; false if there is no such job.
     * @throws DepotError no_space, unavailable if that cannot be put on record: a queued job goes
     *   on waiting then, a running one is stopped all the same
     */
    stop: async (id: string): Promise<boolean> => {
      const job = index.get(id);
      if (job === undefined) return false;
      await stop(job);
      return true;
    },
    /** Jobs that have ended are not forgotten while this says that they are needed. */
    keepWhile: (isNeeded: (job: Job) => boolean): void => void (pruned.isNeeded = isNeeded),
    /** Has a listener called for each job that is forgotten. */
    onForget: (listener: (id: string) => void): void => void (pruned.forgotten = listener),
    /** Puts on record that the end of a job has been seen; one that has not ended is let be. */
    dismiss: (id: string) => dismiss(options, index.get(id)),
    /** Resumes what a daemon before this one left. */
    resume: (): void => {
      lanes.after(endOrphans(options));
      for (const job of index.all()) checkAdopted(options, job);
      for (const job of leftOvers(index.all())) lanes.add(job);
      void logs
        .removeUnknown((id) => index.get(id) !== undefined)
        .catch(failureTo(options.log, 'old task logs not removed'))
        .then(pruneRest);
    },
    /** No job begins any more; those under way are left alone. */
    close: lanes.close,
    /** Called whenever a job was added or changed its state. Returns how to end that. */
    onChange: (listener: (job: Job) => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Where a job stands while it waits. */
interface Lines {
  index: JobIndex;
  lanes: Lanes;
}

/** Puts jobs on record and lines them up, while there is a place. */
function createAcceptance(
  options: QueueOptions,
  { index, lanes }: Lines,
  announce: (job: Job) => void,
): (request: JobRequest) => Promise<Submission> {
  let beingWritten = 0;
  return async (request) => {
    const queued = lanes.count() + beingWritten;
    if (queued >= options.mostQueued()) {
      const message = `cannot take a task: ${queued} are waiting already`;
      throw new DepotError('unavailable', message, { explanation: EXPLANATIONS.queueFull });
    }
    const job = newJob(request);
    showFirstStep(options, job);
    beingWritten += 1;
    await index.add(job).finally(() => (beingWritten -= 1));
    announce(job);
    // The job may have been cancelled while it was being written.
    if (job.state === 'queued') lanes.add(job);
    return { job, isNew: true };
  };
}

function newJob(request: JobRequest): Job {
  return {
    ...request,
    id: newId(),
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
function showFirstStep({ planOf }: QueueOptions, job: Job): void {
  try {
    moveTo(job, planOf(job).steps, 0);
    delete job.at;
  } catch {
    job.stepCount = 0;
  }
}

function checkAdopted(options: QueueOptions, job: Job): void {
  if (isEnded(job.state)) return;
  try {
    options.planOf(job);
  } catch (error) {
    // A job of a kind that is not known, say: the runner fails it with the same reason.
    job.isDamaged = true;
    options.log.error({ task: job.id, reason: reasonOf(error) }, 'job record set aside');
  }
  if (job.state === 'queued') showFirstStep(options, job);
}

/** What a daemon before this one did not get done: first what it was at, then what waited. */
function leftOvers(jobs: readonly Job[]): Job[] {
  const inState = (wanted: JobState): Job[] => jobs.filter(({ state }) => state === wanted);
  return [...inState('running'), ...inState('queued')];
}

/** The job does not begin while its end is being written, and counts as stopped once that is. */
async function cancelQueued(journal: Journal, { index, lanes }: Lines, job: Job): Promise<void> {
  checkChange(job, 'stopped');
  const release = lanes.hold(job);
  const end = {
    state: 'stopped',
    exitCode: ENDED_WITHOUT_CODE,
    ...facts('stopped on request, before it began', EXPLANATIONS.stopped),
    stoppedAt: unixNow(),
  } as const;
  try {
    await journal.saveEnd({ ...job, ...end });
  } catch (error) {
    release();
    throw error;
  }
  Object.assign(job, end);
  lanes.remove(job);
  index.close(job);
}

async function dismiss({ journal, log }: QueueOptions, job: Job | undefined): Promise<void> {
  if (job === undefined || !isEnded(job.state)) return;
  job.isDismissed = true;
  await journal.save(job).catch(failureTo(log, 'job record not written', { task: job.id }));
}

function isSame(job: Job, { kind, params }: JobRequest): boolean {
  const names = new Set([...Object.keys(job.params), ...Object.keys(params)]);
  return (
    job.kind === kind &&
    job.stopRequested !== true &&
    [...names].every((name) => job.params[name] === params[name])
  );
}
