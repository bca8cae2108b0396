import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { DepotError } from '../errors.ts';

/** Every state that a job may be in. */
export const JOB_STATES = [
  'queued',
  'running',
  'done',
  'failed',
  'stopped',
  'interrupted',
] as const;

export type JobState = (typeof JOB_STATES)[number];

/** Which state may follow which; none leaves an ended one. `interrupted`: the machine went down. */
const FOLLOWERS: Readonly<Record<JobState, readonly JobState[]>> = {
  queued: ['running', 'stopped'],
  running: ['done', 'failed', 'stopped', 'interrupted'],
  done: [],
  failed: [],
  stopped: [],
  interrupted: [],
};

export function isEnded(state: JobState): boolean {
  return FOLLOWERS[state].length === 0;
}

/** @throws DepotError internal if the job's state may not become that one */
export function checkChange(job: { id: string; state: JobState }, next: JobState): void {
  if (FOLLOWERS[job.state].includes(next)) return;
  throw new DepotError('internal', `cannot call the ${job.state} job ${job.id} ${next}`);
}

const whole = v.pipe(v.number(), v.integer(), v.minValue(0));
/** A process id, not 0 or 1, below which everything is. */
const processId = v.pipe(v.number(), v.integer(), v.minValue(2));
const exitCode = v.pipe(v.number(), v.integer());
const flag = v.exactOptional(v.boolean());
const text = v.exactOptional(v.string());
/** The id of a job, as `newId` makes it. It names files, so that it holds no path. */
export const jobId = v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/));

const verdict = v.object({
  state: v.picklist(['failed', 'stopped', 'interrupted']),
  error: v.string(),
  /** Absent in records of a version that knew none. */
  errorCode: text,
  remedy: text,
  exitCode,
});

/** The whole record of a job, as it is kept on disk. Times are Unix seconds. */
export const JOB_ENTRIES = {
  id: jobId,
  kind: v.string(),
  /**
   * Jobs of one lane run one at a time, in the order in which they came; lanes run side by side.
   * The features name them.
   */
  lane: v.string(),
  /** What the job works on, such as a package's name: jobs that contradict each other share it. */
  subject: v.string(),
  params: v.record(v.string(), v.string()),
  /** The command that shows to people what is being done. */
  command: v.string(),
  state: v.picklist(JOB_STATES),
  createdAt: whole,
  startedAt: v.exactOptional(whole),
  stoppedAt: v.exactOptional(whole),
  /** The boot that the job was started in: under another one, the machine went down in between. */
  bootId: text,
  /** Exit code of the job: there when it has ended, and 0 exactly when it is done. */
  exitCode: v.exactOptional(exitCode),
  error: text,
  /** Why it did not end as done, for programs: see `Explanation` in errors.ts. */
  errorCode: text,
  /** What the owner can do about that, in one sentence. */
  remedy: text,
  /** Names of the packages that it has changed, for jobs that change some. */
  packages: v.exactOptional(v.array(v.string())),
  /** What else its status says to people, by the kind of job. */
  result: v.exactOptional(v.record(v.string(), v.unknown())),
  /** Which list of its plan the job is in. */
  phase: v.picklist(['steps', 'repair']),
  /** The id of the step it is at; undefined before the first step and after the last one. */
  at: text,
  /** The ids of the steps before that one, in their order. */
  done: v.array(v.string()),
  /** What people read of the step it is at, and how many steps the list has. */
  stepLabel: text,
  stepCount: v.exactOptional(whole),
  /** How the job will end once its repair is through. */
  verdict: v.exactOptional(verdict),
  /** The machine went down in the repair, whatever had begun that. */
  isRepairCut: flag,
  /** The command under way, recorded before it runs. */
  process: v.exactOptional(
    v.object({
      pid: processId,
      startTicks: whole,
      bootId: v.string(),
      isOnTerminal: v.boolean(),
      cgroup: text,
    }),
  ),
  /** Commands started so far; numbers their exit files. */
  runs: whole,
  /** Size of the log when the last command was started. */
  outputFrom: v.exactOptional(whole),
  /** Exit code of the last command that ended. */
  lastExitCode: v.exactOptional(exitCode),
  /** Times a daemon resumed this job without a step getting done in between. */
  resumes: whole,
  stopRequested: flag,
  /** Whether somebody has seen its end and closed its window. */
  isDismissed: flag,
  /** Whether it stands for a record that could not be believed. */
  isDamaged: flag,
  /** The name of its mark (job-marks.ts); says nothing once it has ended. */
  mark: v.exactOptional(jobId),
  /** How much of the command under way is done, if it says so: 0 to 100. */
  percent: v.exactOptional(v.number()),
  /** Size of its log when it ended, for keeping no more than the limit. */
  logBytes: v.exactOptional(whole),
  /** What its steps remember for those behind them: slots (memory.ts). */
  memory: v.record(v.string(), v.unknown()),
};

export type Job = v.InferOutput<v.ObjectSchema<typeof JOB_ENTRIES, undefined>>;
export type Lane = Job['lane'];
export type Verdict = v.InferOutput<typeof verdict>;

/** What the queue makes of a request. */
export type Submission =
  | { job: Job; isNew: boolean }
  /** A queued job that the request contradicts. */
  | { conflict: Job };

/** 32 random hexadecimal digits: nobody guesses it, and none comes twice. */
export function newId(): string {
  return randomBytes(16).toString('hex');
}

/** Exit code of a job that ended without one of its own: 128 + SIGTERM, as its readers know it. */
export const ENDED_WITHOUT_CODE = 143;

/** Seconds since 1970, as records and answers carry them. */
export function unixNow(): number {
  return Math.floor(Date.now() / 1000);
}
