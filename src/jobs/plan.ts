import type { Command } from '../device/command.ts';
import type { DepotError } from '../errors.ts';
import type { Job } from './job.ts';

/**
 * The steps of a job: a pure function of its kind and parameters. `repair` runs when the job
 * failed, was stopped or was interrupted, so that nothing stays half done. Ids are unique within
 * each of the two lists.
 */
export interface Plan {
  steps: Step[];
  repair: Step[];
}

export type Step = Act | CommandStep;

interface StepBase {
  /**
   * Names the step in records, for as long as a version of depotd may read them: a step that
   * changes its meaning gets another id, and one that changes its label keeps it.
   */
  id: string;
  /** What people read while the job is at this step. */
  label: string;
  /** A stop comes too late for it: what the job is for is done, and the rest is to be, too. */
  isLate?: boolean;
  /**
   * For a repair, which waits for a disk that is read-only: what else it waits out, since nothing
   * behind this step may be done before it.
   */
  waitsOut?: (error: unknown) => boolean;
}

/** A step that the daemon does itself: small, and safe to do again after a crash. */
export interface Act extends StepBase {
  /**
   * Whether its end and its memory are on record before the next step begins, or its command runs:
   * for what cannot be done or found out a second time.
   */
  isRecorded?: boolean;
  /**
   * The id of the next command step, if its command is settled by now: its holder is started
   * meanwhile, and waits for its go.
   */
  readies?: string;
  act: (context: StepContext) => Promise<Jump | undefined> | Promise<void> | undefined;
}

/** An act of which nothing else is said. */
export function plainAct(id: string, label: string, act: Act['act']): Act {
  return { id, label, act };
}

/** An act whose end, and what it remembers, is on record before anything else is done. */
export function recordedAct(id: string, label: string, act: Act['act']): Act {
  return { id, label, isRecorded: true, act };
}

/** An act for which a stop comes too late. */
export function lateAct(id: string, label: string, act: Act['act']): Act {
  return { id, label, isLate: true, act };
}

/** A step that is a command, run detached. `undefined` skips it. */
export interface CommandStep extends StepBase {
  command: (context: StepContext) => Promise<Command | undefined> | Command | undefined;
  /** Whether another exit code than 0 fails the job at once; else a later step judges. */
  mustSucceed: boolean;
  /** What a failure of the command means; default: a sentence with the exit code. */
  failure?: (context: StepContext) => Promise<DepotError>;
  /**
   * Looks after the command while it runs, also when another daemon takes it up.
   * @returns how to stop that
   */
  supervise?: (context: StepContext) => () => void;
  /** Reads from the end of its output how much of it is done: 0 to 100. */
  percentIn?: (tail: string, context: StepContext) => number | undefined;
}

/** A command of which nothing else is said: a later step judges what came of it. */
export function plainCommand(
  id: string,
  label: string,
  command: CommandStep['command'],
): CommandStep {
  return { id, label, mustSucceed: false, command };
}

/** What an act answers to have the job go on at another step of the same list. */
export interface Jump {
  retryFrom: string;
}

/** Goes back to a step that the plan holds. A job that is sent to any other step fails. */
export function retryFrom({ id }: Pick<Step, 'id'>): Jump {
  return { retryFrom: id };
}

/** What a step may use. `memory` is saved with the job when the step is done. */
export interface StepContext {
  job: Readonly<Job>;
  /** Read and written through slots (memory.ts) alone. */
  memory: object;
  /** Aborts when somebody stops the job. */
  signal: AbortSignal;
  /** Adds a line of the daemon's own to the task log. */
  note: (line: string) => Promise<void>;
  /** The first bytes of what the job's last command printed, as text. */
  printed: (bytes: number) => Promise<string>;
  /**
   * The last whole lines of what the job's last command printed, of at most so many bytes. What the
   * daemon itself has added since is among them.
   */
  lastPrinted: (bytes: number) => Promise<string>;
  /** Whether what the job's last command was to write down is on the disk (Command.writesDown). */
  isWritten: boolean;
  /** The task log, for a program that is started outside of the job and writes to it. */
  logFile: string;
  /** Shows another command to people from here on. */
  show: (command: string) => void;
  /** Puts on record which packages the job has changed; what was said before counts no more. */
  reportChanged: (packages: readonly string[]) => void;
  /** Adds to what the job's status says beyond that. */
  reportResult: (more: Readonly<Record<string, unknown>>) => void;
  /** For a repair: adds a clause to the job's error, once. */
  addToError: (clause: string) => void;
  /** For a repair: nothing is missing after all, so that the job ends as done. */
  callDone: () => void;
}
