import type { Command } from '../device/command.ts';
import type { ProcessMark } from '../device/ports.ts';

/**
 * `queued → running → done | failed | stopped`, and `interrupted` where the machine went down under
 * it. A queued job may also become `stopped` at once. Nothing leaves an ended state.
 */
export type JobState = 'queued' | 'running' | 'done' | 'failed' | 'stopped' | 'interrupted';

/**
 * Jobs of one lane run one at a time, in the order in which they came; lanes run side by side. The
 * features name them.
 */
export type Lane = string;

/** The whole record of a job, as it is kept on disk. Times are Unix seconds. */
export interface Job {
  /** 32 hexadecimal digits from the system's random source, never used again. */
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
  /** Where the job stands: which list of its plan, and which step of it. */
  phase: 'steps' | 'repair';
  step: number;
  /** How the job will end once its repair is through. */
  verdict?: Verdict;
  /** The command under way, recorded before it runs. */
  process?: ProcessMark;
  /** Commands started so far; numbers their exit files. */
  runs: number;
  /** Size of the log when the last command was started. */
  outputFrom?: number;
  /** Exit code of the last command that ended. */
  lastExitCode?: number;
  /** Times a daemon took this job up again without a step getting done in between. */
  resumes: number;
  stopRequested?: boolean;
  /** Whether somebody has seen its end and closed its window. */
  isDismissed?: boolean;
  /** How much of the command under way is done, where it tells: 0 to 100. */
  percent?: number;
  /** Size of its log when it ended, for keeping no more than the limit. */
  logBytes?: number;
  /** What its steps remember for those behind them. */
  memory: Record<string, unknown>;
}

export interface Verdict {
  state: 'failed' | 'stopped' | 'interrupted';
  error: string;
  exitCode: number;
}

/** What a step may use. `memory` is saved with the job when the step is done. */
export interface StepContext {
  job: Readonly<Job>;
  memory: Record<string, unknown>;
  /** Aborts when somebody stops the job. */
  signal: AbortSignal;
  /** Adds a line of the daemon's own to the task log. */
  note: (line: string) => Promise<void>;
  /** The first bytes of what the job's last command printed, as text. */
  printed: (bytes: number) => Promise<string>;
  /** The task log, for a program that is started outside of the job and writes to it. */
  logFile: string;
  /** Shows another command to people from here on. */
  show: (command: string) => void;
}

/**
 * A step that the daemon does itself: small, and safe to do again after a crash. `again` names a
 * step to go back to.
 */
export interface Act {
  name: string;
  /**
   * Whether its end and its memory are on record before the next step begins: for what cannot be
   * done or found out a second time.
   */
  isRecorded?: boolean;
  /**
   * Whether a stop comes too late for it: what the job is for is done, and the rest is to be, too.
   */
  isLate?: boolean;
  act: (context: StepContext) => Promise<{ again: string } | undefined>;
}

/** A step that is a command, run detached. `undefined` skips it. */
export interface CommandStep {
  name: string;
  /**
   * Whether a stop comes too late for it: what the job is for is done, and the rest is to be, too.
   */
  isLate?: boolean;
  command: (context: StepContext) => Promise<Command | undefined> | Command | undefined;
  /** Whether another exit code than 0 fails the job at once; else a later step judges. */
  mustSucceed: boolean;
  /** Reads from the last part of its output how much of it is done: 0 to 100. */
  percentIn?: (tail: string) => number | undefined;
}

export type Step = Act | CommandStep;

/**
 * The steps of a job: a pure function of its kind and parameters. `repair` runs when the job
 * failed, was stopped or was interrupted, so that nothing stays half done.
 */
export interface Plan {
  steps: Step[];
  repair: Step[];
}

/** What the queue makes of a request. */
export type Submission =
  | { job: Job; isNew: boolean }
  /** A queued job that the request contradicts. */
  | { conflict: Job };

export function isEnded(state: JobState): boolean {
  return state !== 'queued' && state !== 'running';
}

/** Seconds since 1970, as records and answers carry them. */
export function unixNow(): number {
  return Math.floor(Date.now() / 1000);
}
