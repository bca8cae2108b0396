import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import type { Job } from '../../src/jobs/job.ts';
import type { JobRequest } from '../../src/jobs/queue.ts';
import { isEnded } from '../../src/jobs/states.ts';
import { openQueue, request } from './open-queue.ts';

test('no more jobs wait than may, however many come in one moment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-queue-'));
  const { queue, journal } = await openQueue(folder, { mostQueued: 3 });
  onTestFinished(async () => {
    queue.close();
    await journal.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  const submit = async (asked: JobRequest): Promise<Job> => {
    const submission = await queue.submit(asked);
    if ('conflict' in submission) throw new Error('cannot be');
    return submission.job;
  };
  const ended = async (job: Job): Promise<Job> => {
    await expect.poll(() => isEnded(job.state)).toBe(true);
    return job;
  };
  const first = await submit(request('first', { 1: 'until [ -e go ]; do sleep 0.02; done' }));

  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, at) => submit(request(`more-${at}`, { 1: 'true' }))),
  );

  const refused = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  expect(refused).toHaveLength(7);
  expect(refused[0]).toMatchObject({
    status: 503,
    message: 'cannot take a task: 3 are waiting already',
    explanation: { code: 'queue_full' },
  });
  await writeFile(join(folder, 'go'), '');
  await ended(first);
  for (const result of results) if (result.status === 'fulfilled') await ended(result.value);
  expect((await ended(await submit(request('later', { 1: 'true' })))).state).toBe('done');
});
