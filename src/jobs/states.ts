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

/**
 * Which state may follow which. `interrupted`: the machine went down under the job. Nothing
 * leaves an ended state.
 */
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
