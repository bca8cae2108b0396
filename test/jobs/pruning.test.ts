import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';

import type { Job } from '../../src/jobs/job.ts';
import { jobsToForget } from '../../src/jobs/pruning.ts';
import { openQueue, request, type OpenQueue } from './open-queue.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;

beforeEach(async () => (folder = await temporaryFolder()));

test('of the jobs that have ended no more than the limit are kept, the newest, and their logs with them', async () => {
  const open = await openQueue(folder, { limits: { jobs: 3, logBytes: 1024 ** 2 } });

  const ids = await runAll(
    open,
    ['a', 'b', 'c', 'd', 'e'].map(() => 'echo text'),
  );

  await expect.poll(() => open.queue.all().map(({ id }) => id)).toEqual(ids.slice(2));
  await expect
    .poll(() => logsIn())
    .toEqual(
      ids
        .slice(2)
        .map((id) => `${id}.log`)
        .sort(),
    );
  await open.journal.close();
  const reopened = await openQueue(folder);
  expect(reopened.queue.all().map(({ id }) => id)).toEqual(ids.slice(2));
  await reopened.journal.close();
});

test('the newest are kept by the order of their ends, though the clock was set back since', async () => {
  const open = await openQueue(folder, { limits: { jobs: 3, logBytes: 1024 ** 2 } });
  const before = await runAll(
    open,
    ['a', 'b', 'c'].map(() => 'echo text'),
  );
  const now = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => now - 8 * 3_600_000);
  onTestFinished(() => void vi.restoreAllMocks());

  const after = await runAll(
    open,
    ['d', 'e'].map(() => 'echo text'),
  );

  const kept = [before[2], ...after];
  await expect.poll(() => open.queue.all().map(({ id }) => id)).toEqual(kept);
  await open.journal.close();
});

test('an end in the time to come has nobody forget what has just ended in another lane', () => {
  const now = Math.floor(Date.now() / 1000);
  const ended = (id: string, lane: string, stoppedAt: number): Job =>
    ({ id, lane, stoppedAt, state: 'done' }) as Job;
  const jobs = [
    ended('wrong clock', 'packages', now + 100_000_000),
    ...[3, 2, 1].map((hours) => ended(`${hours} h ago`, 'packages', now - hours * 3600)),
    ended('move', 'container', now),
  ];

  const forgotten = jobsToForget(jobs, { jobs: 3, logBytes: 1 });

  expect(forgotten).toEqual(['3 h ago', 'wrong clock']);
});

test('what has just ended is not forgotten for those behind it that were dropped while they waited', () => {
  const now = Math.floor(Date.now() / 1000);
  const ran = { startedAt: now - 9, state: 'done' };
  const jobs = [
    { ...ran, id: 'before', lane: 'packages', stoppedAt: now - 9 },
    { ...ran, id: 'long', lane: 'packages', stoppedAt: now },
    ...['a', 'b', 'c'].map((id) => ({ id, lane: 'packages', stoppedAt: now, state: 'stopped' })),
  ] as Job[];

  const forgotten = jobsToForget(jobs, { jobs: 2, logBytes: 1024 });

  expect(forgotten).toEqual(['b', 'a', 'before']);
});

test('whether a job is needed still is asked of those alone that would be forgotten', async () => {
  const open = await openQueue(folder, { limits: { jobs: 3, logBytes: 1024 ** 2 } });
  const asked: string[] = [];
  open.queue.keepWhile(({ id }) => asked.push(id) > 0);

  const ids = await runAll(
    open,
    ['a', 'b', 'c', 'd'].map(() => 'echo text'),
  );

  await expect.poll(() => [...new Set(asked)]).toEqual(ids.slice(0, 1));
  expect(open.queue.all().map(({ id }) => id)).toEqual(ids);
  await open.journal.close();
});

test('old logs go when all together are larger than the limit, but the newest stays whatever its size', async () => {
  const open = await openQueue(folder, { limits: { jobs: 100, logBytes: 2500 } });

  const ids = await runAll(open, [
    'printf %01000d 0',
    'printf %01000d 0',
    'printf %01000d 0',
    'printf %09000d 0',
  ]);

  await expect.poll(() => open.queue.all().map(({ id }) => id)).toEqual(ids.slice(3));
  await open.journal.close();
});

test('a job that has not ended is never pruned', async () => {
  const open = await openQueue(folder, { limits: { jobs: 1, logBytes: 1 } });
  const running = await open.queue.submit(
    request(
      'long',
      { 1: 'echo text; until [ -e go ]; do sleep 0.02; done' },
      { lane: 'container' },
    ),
  );
  const long = 'job' in running ? running.job : undefined;

  const ids = await runAll(open, ['echo text', 'echo text', 'echo text']);

  await expect.poll(() => open.queue.all().map(({ id }) => id)).toEqual([long?.id, ids[2]]);
  expect(long?.state).toBe('running');
  open.queue.close();
  if (long !== undefined) await open.queue.stop(long.id);
  await expect.poll(() => long?.state).toBe('stopped');
  await open.journal.close();
});

test('logs and exit files of jobs that nobody knows are removed at the start', async () => {
  const open = await openQueue(folder);
  const unknown = 'f'.repeat(32);
  await open.logs.append(unknown, 'text');

  open.queue.resume();

  await expect.poll(() => logsIn()).toEqual([]);
  await open.journal.close();
});

test('what others have in folders below that of the logs, or behind a link there, stays', async () => {
  const open = await openQueue(folder);
  const [below, behind] = [join(folder, 'logs/other'), join(folder, 'elsewhere')];
  for (const path of [below, behind]) {
    await mkdir(path);
    await writeFile(join(path, `${'f'.repeat(32)}.log`), 'text');
  }
  await symlink(behind, join(folder, 'logs/link'));

  await open.logs.removeUnknown(() => false);

  expect(await readdir(below)).toHaveLength(1);
  expect(await readdir(behind)).toHaveLength(1);
  await open.journal.close();
});

async function runAll({ queue }: OpenQueue, scripts: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, script] of scripts.entries()) {
    const submission = await queue.submit(request(`s${index}`, { 1: script }));
    if ('conflict' in submission) throw new Error('cannot submit');
    const { job } = submission;
    await expect.poll(() => job.state, { timeout: 10_000 }).toBe('done');
    ids.push(job.id);
  }
  return ids;
}

async function logsIn(): Promise<string[]> {
  return (await readdir(join(folder, 'logs'))).filter((name) => name.endsWith('.log')).sort();
}
