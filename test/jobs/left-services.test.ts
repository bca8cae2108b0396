import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterEach, expect, test } from 'vitest';

import type { Job } from '../../src/jobs/job.ts';
import { request, type OpenQueue } from './open-queue.ts';
import { ended, queueOfEachTest, submitTo } from './queue-of-test.ts';

/** What a package's script leaves in the background lives on, as after a command by hand. */

let folder: string;
let open: OpenQueue;

queueOfEachTest((...made) => ([folder, open] = made));
afterEach(async () => {
  for (const pid of await services()) end(pid);
});

const WAYS = ['sleep 300 &', 'nohup sleep 300 &', 'setsid sleep 300 &'];
const START = WAYS.map((way) => `${way} echo $! >>pids`).join('\n');

test('services that a script leaves in the background live on when the task is done', async () => {
  const job = await ended(await submit({ 1: `sh -c '${START}'`, 2: 'true' }));
  // A hang-up that is on its way would arrive now.
  await delay(300);

  expect(job.state).toBe('done');
  await expect.poll(living).toHaveLength(WAYS.length);
});

test('after a command that fails they live on, too', async () => {
  const job = await ended(await submit({ 1: `sh -c '${START}'; exit 255` }));
  await delay(300);

  expect(job).toMatchObject({ state: 'failed', exitCode: 255 });
  await expect.poll(living).toHaveLength(WAYS.length);
});

test('a stop of the task ends them', async () => {
  const job = await submit({ 1: `sh -c '${START}'`, 2: 'sleep 300' });
  await expect.poll(() => job.done).toEqual(['1']);
  await expect.poll(() => job.process?.pid).toBeGreaterThan(0);

  await open.queue.stop(job.id);

  expect((await ended(job)).state).toBe('stopped');
  expect(await services()).toHaveLength(WAYS.length);
  await expect.poll(living).toEqual([]);
});

test('the death of the command ends what runs in its group', async () => {
  const job = await ended(await submit({ 1: `${START}\nkill -KILL $$` }));

  expect(job).toMatchObject({ state: 'failed', exitCode: 137 });
  await expect.poll(living).toEqual([]);
});

async function submit(params: Record<string, string>): Promise<Job> {
  return submitTo(open.queue, request('services', params));
}

async function services(): Promise<number[]> {
  const text = await readFile(join(folder, 'pids'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).map(Number);
}

async function living(): Promise<number[]> {
  const states = await Promise.all(
    (await services()).map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
      return stat.includes('(sleep)') && !/\) [ZX]/.test(stat) ? pid : undefined;
    }),
  );
  return states.filter((pid) => pid !== undefined);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
