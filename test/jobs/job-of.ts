import type { Job } from '../../src/jobs/job.ts';
import { openJournal } from '../../src/jobs/journal/journal.ts';

/** A job that waits. */
export function jobOf(id: string, more: Partial<Job> = {}): Job {
  return {
    id,
    kind: 'install',
    lane: 'package',
    subject: 'demo',
    params: {},
    command: 'install demo',
    state: 'queued',
    createdAt: 1,
    phase: 'steps',
    done: [],
    runs: 0,
    resumes: 0,
    memory: {},
    ...more,
  };
}

/** The ids of the jobs that a journal in this folder knows when it is opened. */
export async function savedIn(folder: string): Promise<string[]> {
  const { jobs, close } = await openJournal(folder);
  await close();
  return jobs.map(({ id }) => id);
}
