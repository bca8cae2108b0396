import { afterEach, beforeEach, expect } from 'vitest';

import { isEnded, type Job } from '../../src/jobs/job.ts';
import type { JobRequest, Queue } from '../../src/jobs/queue.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openQueue, type OpenQueue } from './open-queue.ts';

/** A queue for each test of a file, in a folder of its own. */
export function queueOfEachTest(use: (folder: string, open: OpenQueue) => void): void {
  let open: OpenQueue;
  beforeEach(async () => {
    const folder = await temporaryFolder();
    open = await openQueue(folder);
    use(folder, open);
  });
  afterEach(async () => {
    open.queue.close();
    await open.journal.close();
  });
}

/** A job that contradicts no other. */
export async function submitTo(queue: Pick<Queue, 'submit'>, wanted: JobRequest): Promise<Job> {
  const submission = await queue.submit(wanted);
  if ('job' in submission) return submission.job;
  throw new Error(`cannot submit: job ${submission.conflict.id} contradicts`);
}

export async function ended(job: Job | undefined): Promise<Job> {
  if (job === undefined) throw new Error('cannot wait: there is no job');
  await expect.poll(() => isEnded(job.state)).toBe(true);
  return job;
}
