import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { Job } from '../../src/jobs/job.ts';
import type { JobRequest, Queue } from '../../src/jobs/queue.ts';
import { openQueue, request, type OpenQueue } from './open-queue.ts';
import { ended, queueOfEachTest, submitTo } from './queue-of-test.ts';

let folder: string;
let open: OpenQueue;
let queue: Queue;

queueOfEachTest((...made) => {
  [folder, open] = made;
  queue = open.queue;
});

const submit = (wanted: JobRequest): Promise<Job> => submitTo(queue, wanted);

/** Waits until somebody creates the file. */
const UNTIL = (name: string): string => `until [ -e ${name} ]; do sleep 0.02; done`;
const release = (name: string): Promise<void> => writeFile(join(folder, name), '');
const linesOf = async (name: string): Promise<string[]> =>
  (await readFile(join(folder, name), 'utf8').catch(() => '')).split('\n').filter(Boolean);

test('jobs of a lane run one at a time in the order in which they came', async () => {
  const script = (name: string): string =>
    `echo begin ${name} >>order; sleep 0.1; echo end ${name} >>order`;
  const jobs = await Promise.all(
    ['a', 'b', 'c'].map((name) => submit(request(name, { 1: script(name) }))),
  );

  for (const job of jobs) await ended(job);

  expect(await linesOf('order')).toEqual(
    ['a', 'b', 'c'].flatMap((name) => [`begin ${name}`, `end ${name}`]),
  );
});

test('a job runs, and its log is read, after somebody has cleared all logs away', async () => {
  await rm(join(folder, 'logs'), { recursive: true });
  const job = await submit(request('a', { 1: 'echo here' }));

  expect((await ended(job)).state).toBe('done');
  expect((await open.logs.read(job.id, 0, 100)).toString()).toMatch(/^here\r?\n$/);
});

test('what cannot be removed among the logs keeps nothing else from running', async () => {
  await mkdir(join(folder, 'logs', `${'f'.repeat(32)}.log`));
  await mkdir(join(folder, 'logs/exits', `${'f'.repeat(32)}.1`));

  queue.resume();

  expect((await ended(await submit(request('a', { 1: 'true' })))).state).toBe('done');
});

test('lanes run side by side', async () => {
  const one = await submit(request('a', { 1: `echo >one; ${UNTIL('two')}` }));
  const two = await submit(
    request('b', { 1: `echo >two; ${UNTIL('one')}` }, { lane: 'container' }),
  );

  expect((await ended(one)).state).toBe('done');
  expect((await ended(two)).state).toBe('done');
});

test('the same request while one is queued or running is that job', async () => {
  const running = await submit(request('a', { 1: UNTIL('go') }));
  const queued = await submit(request('b', { 1: 'true' }));

  expect(await queue.submit(request('a', { 1: UNTIL('go') }))).toEqual({
    job: running,
    isNew: false,
  });
  expect(await queue.submit(request('b', { 1: 'true' }))).toEqual({ job: queued, isNew: false });
  expect(await queue.submit(request('b', { 1: 'false' }))).toMatchObject({ isNew: true });

  await release('go');
  await ended(running);
  expect(await queue.submit(request('a', { 1: UNTIL('go') }))).toMatchObject({ isNew: true });
});

test('twenty of the same requests at once are one job', async () => {
  const submissions = await Promise.all(
    Array.from({ length: 20 }, () => queue.submit(request('a', { 1: 'echo ran >>order' }))),
  );

  expect(
    new Set(submissions.map((submission) => ('job' in submission ? submission.job.id : 'conflict')))
      .size,
  ).toBe(1);
  await ended(queue.all()[0]);
  expect(await linesOf('order')).toEqual(['ran']);
});

test('a request that contradicts a queued job is refused with that job, one against a running job queues behind it', async () => {
  const running = await submit(request('a', { 1: UNTIL('go') }));
  await expect.poll(() => running.state).toBe('running');
  const removal = await submit(request('a', { 1: 'true' }, { kind: 'remove' }));
  expect(removal.state).toBe('queued');

  expect(await queue.submit(request('a', { 1: 'true' }))).toEqual({ conflict: removal });
  const other = await submit(request('other', { 1: 'true' }));

  await release('go');
  expect((await ended(removal)).state).toBe('done');
  await ended(other);
});

test('a queued job that is stopped never runs, and the others do', async () => {
  const running = await submit(request('a', { 1: UNTIL('go') }));
  const dropped = await submit(request('b', { 1: 'echo b >>order' }));
  const last = await submit(request('c', { 1: 'echo c >>order' }));

  expect(await queue.stop(dropped.id)).toBe(true);

  expect(dropped).toMatchObject({
    state: 'stopped',
    exitCode: 143,
    error: 'stopped on request, before it began',
  });
  await release('go');
  await ended(running);
  await ended(last);
  expect(await linesOf('order')).toEqual(['c']);
});

test('a running job that is stopped ends its command, repairs, and has the exit code of the command', async () => {
  const job = await submit(
    request('a', {
      1: 'trap "exit 130" INT; echo >begun; while :; do sleep 0.02; done',
      2: 'echo not reached >>order',
      r1: 'echo repaired >>order',
    }),
  );
  await expect.poll(async () => (await readdir(folder)).includes('begun')).toBe(true);

  await queue.stop(job.id);
  await queue.stop(job.id);

  expect(await ended(job)).toMatchObject({
    state: 'stopped',
    exitCode: 130,
    error: 'stopped on request',
  });
  expect(await linesOf('order')).toEqual(['repaired']);
  expect(await queue.stop(job.id)).toBe(true);
  expect(job.state).toBe('stopped');
});

test('a stop that comes when the job has done what it is for lets it end well', async () => {
  const job = await submit(
    request('a', {
      '1late': 'echo >begun; until [ -e go ]; do sleep 0.02; done',
      '2late': 'echo reached >>order',
    }),
  );
  await expect.poll(async () => (await readdir(folder)).includes('begun')).toBe(true);

  await queue.stop(job.id);
  await writeFile(join(folder, 'go'), '');

  expect(await ended(job)).toMatchObject({ state: 'done', exitCode: 0 });
  expect(await linesOf('order')).toEqual(['reached']);
});

test('a job that is stopped as soon as it is accepted never runs, and stays stopped', async () => {
  for (let count = 0; count < 20; count += 1) {
    const job = await submit(request(`s${count}`, { 1: 'echo ran >>order' }));
    await queue.stop(job.id);

    expect(await ended(job)).toMatchObject({ state: 'stopped', exitCode: 143 });
    await expect.poll(() => queue.newest('package')?.logBytes).toBeDefined();
    expect(job.state).toBe('stopped');
  }
  expect(await linesOf('order')).toEqual([]);
});

test('listeners hear of a job when it is queued, when it runs and when it has ended', async () => {
  const heard: string[] = [];
  queue.onChange(({ state }) => heard.push(state));

  await ended(await submit(request('a', { 1: 'true' })));

  await expect.poll(() => heard).toEqual(['queued', 'running', 'done']);
});

test('the repair of a job that was stopped is not told to stop', async () => {
  const job = await submit(request('a', { 1: 'echo >begun; sleep 30', r1: 'tell' }));
  await expect.poll(async () => (await readdir(folder)).includes('begun')).toBe(true);

  await queue.stop(job.id);
  await ended(job);

  expect(await readFile(open.logs.fileOf(job.id), 'utf8')).toContain(
    'depotd: r1 is told to stop: false\r\n',
  );
});

test('a stop that comes while a failed job is repaired lets its repair finish', async () => {
  const repair = `echo >repairing; ${UNTIL('go')}; echo repaired >>order`;
  const job = await submit(request('a', { 1: 'exit 7', r1: repair }));
  await expect.poll(async () => (await readdir(folder)).includes('repairing')).toBe(true);

  await queue.stop(job.id);
  await release('go');

  expect(await ended(job)).toMatchObject({ state: 'failed', exitCode: 7 });
  expect(await linesOf('order')).toEqual(['repaired']);
});

test('exit files do not stay once the end is on record', async () => {
  await ended(await submit(request('a', { 1: 'true', 2: 'exit 7', r1: 'true' })));

  await expect.poll(() => readdir(join(folder, 'logs/exits'))).toEqual([]);
});

test('there is nothing to stop where no job has that id', async () => {
  expect(await queue.stop('f'.repeat(32))).toBe(false);
});

test('a command that fails fails the job with its exit code, after the repair', async () => {
  const job = await submit(
    request('a', { 1: 'exit 7', 2: 'echo not reached >>order', r1: 'echo repaired >>order' }),
  );

  expect(await ended(job)).toMatchObject({
    state: 'failed',
    exitCode: 7,
    error: 'cannot step 1: exit code 7',
  });
  expect(await linesOf('order')).toEqual(['repaired']);
});

test('a repair that fails is told in the log and the error, and goes on with its next step', async () => {
  const job = await submit(
    request('a', { 1: 'exit 7', r1: 'exit 9', r2: 'echo repaired >>order' }),
  );

  expect(await ended(job)).toMatchObject({
    state: 'failed',
    exitCode: 7,
    error: 'cannot step 1: exit code 7; the repair failed: cannot step r1: exit code 9',
  });
  expect(await linesOf('order')).toEqual(['repaired']);
  expect(await readFile(open.logs.fileOf(job.id), 'utf8')).toBe(
    'depotd: cannot step 1: exit code 7\r\ndepotd: cannot step r1: exit code 9\r\n',
  );
});

test('a closed queue takes no job and begins none, and the next one goes on with what is left', async () => {
  const running = await submit(request('a', { 1: UNTIL('go') }));
  const queued = await submit(request('b', { 1: 'echo b >>order' }));
  await expect.poll(() => running.state).toBe('running');
  queue.close();
  await expect(queue.submit(request('c', {}))).rejects.toMatchObject({ code: 'unavailable' });
  await release('go');
  await ended(running);
  expect(queued.state).toBe('queued');

  const next = await openQueue(folder);
  next.queue.resume();

  await expect.poll(() => next.queue.get(queued.id)?.state, { timeout: 10_000 }).toBe('done');
  expect(await linesOf('order')).toEqual(['b']);
  await next.journal.close();
});

test('every job has an id that nobody can guess, and none is given twice', async () => {
  const jobs = await Promise.all(
    Array.from({ length: 200 }, (_, index) => submit(request(`s${index}`, {}))),
  );

  expect(new Set(jobs.map(({ id }) => id)).size).toBe(200);
  expect(jobs.every(({ id }) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  for (const job of jobs) await ended(job);
});
