import { randomBytes } from 'node:crypto';
import type { ProcessMark } from '../device/ports.ts';
import type { JobState } from './states.ts';

/**
 * Jobs of one lane run one at a time, in the order in which they came; lanes run side by side. The
 * features name them.
 */
export type Lane = string;

/** The whole record of a job, as it is kept on disk. Times are Unix seconds. */
export interface Job {
  /** As `newId` makes it. */
  id: string;
  kind: string;
  lane: Lane;
  /** What the job works on, such as a package's name: jobs that contradict each other share it. */
  subject: string;
  params: Record<string, string>;
  /** The command that shows to people what is being done. */
  command: string;
  state: JobState;
  createdAt: number;
  startedAt?: number;
  stoppedAt?: number;
  /** The boot that the job was started in: under another one, the machine went down in between. */
  bootId?: string;
  /** There when the job has ended, and 0 exactly when it is done. */
  exitCode?: number;
  error?: string;
  /** Why it did not end as done, for programs: see `Explanation` in errors.ts. */
  errorCode?: string;
  /** What the owner can do about that, in one sentence. */
  remedy?: string;
  /** Names of the packages that it has changed, for jobs that change some. */
  packages?: string[];
  /** What else its status says to people, by the kind of job. */
  result?: Record<string, unknown>;
  /** Which list of its plan the job is in. */
  phase: 'steps' | 'repair';
  /** The id of the step it is at; undefined before the first step and after the last one. */
  at?: string;
  /** The ids of the steps before that one, in their order. */
  done: string[];
  /** What people read of the step it is at, and how many steps the list has. */
  stepLabel?: string;
  stepCount?: number;
  /** How the job will end once its repair is through. */
  verdict?: Verdict;
  /** The machine went down in the repair, whatever had begun that. */
  isRepairCut?: boolean;
  /** The command under way, recorded before it runs. */
  process?: ProcessMark;
  /** Commands started so far; numbers their exit files. */
  runs: number;
  /** Size of the log when the last command was started. */
  outputFrom?: number;
  /** Exit code of the last command that ended. */
  lastExitCode?: number;
  /** Times a daemon resumed this job without a step getting done in between. */
  resumes: number;
  stopRequested?: boolean;
  /** Whether somebody has seen its end and closed its window. */
  isDismissed?: boolean;
  /** It stands for a record that could not be believed. */
  isDamaged?: boolean;
  /** The name of its mark (job-marks.ts); says nothing once it has ended. */
  mark?: string;
  /** How much of the command under way is done, if it says so: 0 to 100. */
  percent?: number;
  /** Size of its log when it ended, for keeping no more than the limit. */
  logBytes?: number;
  /** What its steps remember for those behind them: slots (memory.ts). */
  memory: object;
}

export interface Verdict {
  state: 'failed' | 'stopped' | 'interrupted';
  error: string;
  /** Absent in records of a version that knew none. */
  errorCode?: string;
  remedy?: string;
  exitCode: number;
}

/** What the queue makes of a request. */
export type Submission =
  | { job: Job; isNew: boolean }
  /** A queued job that the request contradicts. */
  | { conflict: Job };

/**
 * 32 hexadecimal digits from the system's random source: nobody guesses it, and none comes twice.
 */
export function newId(): string {
  return randomBytes(16).toString('hex');
}

/** Exit code of a job that ended without one of its own: 128 + SIGTERM, as its readers know it. */
export const ENDED_WITHOUT_CODE = 143;

/** Seconds since 1970, as records and answers carry them. */
export function unixNow(): number {
  return Math.floor(Date.now() / 1000);
}
