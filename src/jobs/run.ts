import type { HeldProcess, Processes } from '../device/ports.ts';
import type { Log } from '../log.ts';
import type { OutlastDisk } from './disk-wait.ts';
import type { Job } from './job.ts';
import type { TaskLogs } from './task-logs.ts';
import type { Plan, Step } from './plan.ts';

export interface RunnerOptions {
  processes: Processes;
  logs: TaskLogs;
  log: Log;
  planOf: (job: Job) => Plan;
  save: (job: Job) => Promise<void>;
}

/** One job on its way through its plan. */
export interface Run extends RunnerOptions {
  job: Job;
  plan: Plan;
  abort: AbortController;
  outlastDisk: OutlastDisk;
  /** The holder of the command step of that id, which waits for its go. */
  ready?: { id: string; held: Promise<HeldProcess | undefined> };
  /** The step before is done, and that is to be on record before the next one begins. */
  isUnrecorded?: boolean;
  /** The file systems that the last command named (`writesDown`) were synced. */
  isWritten?: boolean;
  /** Settles when the log has all that the last command printed. */
  printed?: Promise<void>;
}

/** The repair of a job that was stopped is not stopped. */
export function isToStop({ job, abort }: Run, { isLate }: Step): boolean {
  return job.phase === 'steps' && isLate !== true && abort.signal.aborted;
}

/** Somebody asked for the stop, so it is no failure. */
export class Stopped extends Error {
  constructor() {
    super('stopped on request');
  }
}
