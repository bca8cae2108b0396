import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { request, type OpenQueue } from './open-queue.ts';
import { ended, queueOfEachTest, submitTo } from './queue-of-test.ts';

let folder: string;
let open: OpenQueue;

queueOfEachTest((...made) => ([folder, open] = made));

test.each([
  [0, { state: 'done' }, /^depotd: 2 is told.*\r\nhere\r?\n$/],
  [7, { state: 'failed', exitCode: 7 }, /exit code 7\r\n/],
])(
  'a command that ends with %i has its end, and its job goes on, if all logs are cleared away meanwhile',
  async (code, end, log) => {
    const first = `echo >begun; until [ -e go ]; do sleep 0.02; done; exit ${code}`;
    const job = await submitTo(
      open.queue,
      request('a', { 1: first, 2: 'tell', 3: 'echo here', r1: 'tell' }),
    );
    await expect.poll(() => readdir(folder)).toContain('begun');
    // The recorder may write into it in that moment.
    await rm(join(folder, 'logs'), { recursive: true, maxRetries: 20, retryDelay: 10 });
    await expect.poll(() => readdir(join(folder, 'logs')).catch(() => [])).toEqual(['exits']);
    await writeFile(join(folder, 'go'), '');

    expect(await ended(job)).toMatchObject(end);
    expect((await open.logs.read(job.id, 0, 1000)).toString()).toMatch(log);
  },
);
