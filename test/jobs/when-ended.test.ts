import { expect, test } from 'vitest';

import type { Queue } from '../../src/jobs/queue.ts';
import { whenEnded } from '../../src/jobs/when-ended.ts';
import { request } from './open-queue.ts';
import { ended, queueOfEachTest, submitTo } from './queue-of-test.ts';

let queue: Queue;
let listening: number;
queueOfEachTest((_, open) => {
  listening = 0;
  const onChange: Queue['onChange'] = (listener) => {
    listening += 1;
    const unsubscribe = open.queue.onChange(listener);
    return () => {
      listening -= 1;
      unsubscribe();
    };
  };
  queue = { ...open.queue, onChange };
});

test('who waits for an end until a time has come hears of no later change', async () => {
  const job = await submitTo(queue, request('a', { 1: 'sleep 60' }));

  await whenEnded(job, queue, AbortSignal.timeout(50));

  expect(queue.get(job.id)?.state).toBe('running');
  expect(listening).toBe(0);
  await queue.stop(job.id);
  await ended(job);
});

test('who waits for an end hears of it before the time has come', async () => {
  const job = await submitTo(queue, request('a', { 1: 'true' }));

  const tooLate = new AbortController();
  await whenEnded(job, queue, tooLate.signal);

  expect(queue.get(job.id)?.state).toBe('done');
  expect(listening).toBe(0);
});
