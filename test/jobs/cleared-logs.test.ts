import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { isEnded } from '../../src/jobs/states.ts';
import { openQueue, request, type OpenQueue } from './open-queue.ts';

let folder: string;
let open: OpenQueue;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-cleared-'));
  open = await openQueue(folder);
});

afterEach(async () => {
  open.queue.close();
  await open.journal.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

test.each([
  [0, { state: 'done' }, /^depotd: 2 is told.*\r\nhere\r?\n$/],
  [7, { state: 'failed', exitCode: 7 }, /exit code 7\r\n/],
])(
  'a command that ends with %i has its end, and its job goes on, if all logs are cleared away meanwhile',
  async (code, end, log) => {
    const first = `echo >begun; until [ -e go ]; do sleep 0.02; done; exit ${code}`;
    const submission = await open.queue.submit(
      request('a', { 1: first, 2: 'tell', 3: 'echo here', r1: 'tell' }),
    );
    if (!('job' in submission)) throw new Error('it was not taken');
    const { job } = submission;
    await expect.poll(() => readdir(folder)).toContain('begun');
    // The recorder may write into it in that moment.
    await rm(join(folder, 'logs'), { recursive: true, maxRetries: 20, retryDelay: 10 });
    await expect.poll(() => readdir(join(folder, 'logs')).catch(() => [])).toEqual(['exits']);
    await writeFile(join(folder, 'go'), '');

    await expect.poll(() => isEnded(job.state)).toBe(true);
    expect(job).toMatchObject(end);
    expect((await open.logs.read(job.id, 0, 1000)).toString()).toMatch(log);
  },
);
