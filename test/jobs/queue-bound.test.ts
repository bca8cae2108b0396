import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import type { Job } from '../../src/jobs/job.ts';
import type { JobRequest } from '../../src/jobs/queue.ts';
import { openQueue, request } from './open-queue.ts';
import { ended, submitTo } from './queue-of-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('no more jobs wait than may, however many come in one moment', async () => {
  const folder = await temporaryFolder();
  const { queue, journal } = await openQueue(folder, { mostQueued: 3 });
  onTestFinished(async () => {
    queue.close();
    await journal.close();
  });
  const submit = (asked: JobRequest): Promise<Job> => submitTo(queue, asked);
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
