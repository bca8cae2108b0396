import type { Job } from './job.ts';

/**
 * A job as one line of the journal. Format 1 had no `format`, and its `step` was an index into the
 * plan. Format 2 names the steps; it goes on writing the index, so that a version put back by a
 * failed self-upgrade finds what it knows.
 */
const FORMAT = 2;

export function toLine(job: Job): string {
  return JSON.stringify({ format: FORMAT, ...job, step: job.done.length });
}

export function toJob({ format, step, ...record }: Job & { format?: number; step?: number }): Job {
  return format === undefined ? { ...record, done: [], formerStep: step ?? 0 } : record;
}
