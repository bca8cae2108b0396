import { beforeEach, expect, test } from 'vitest';

import { createTaskLogs, type TaskLogs } from '../../src/jobs/task-logs.ts';
import type { StepContext } from '../../src/jobs/plan.ts';
import { contextOf } from '../../src/jobs/step-context.ts';
import { jobOf } from './job-of.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Characters of one, two, three and four bytes. */
const WORD = 'aé€😀';
let folder: string;
let logs: TaskLogs;

beforeEach(async () => {
  folder = await temporaryFolder();
  logs = await createTaskLogs(folder);
});
async function contextWith(log: string): Promise<StepContext> {
  const job = jobOf('one');
  await logs.append(job.id, log);
  return contextOf(
    { job, logs, abort: new AbortController() },
    { id: 'step', label: 'step', act: () => Promise.resolve(undefined) },
  );
}

test('the end of what was printed has whole lines, whichever byte it begins with', async () => {
  const line = `${WORD.repeat(3)}\n`;
  const { lastPrinted } = await contextWith(line.repeat(3));
  const all = Buffer.byteLength(line.repeat(3));
  for (let bytes = 0; bytes <= all; bytes += 1) {
    expect(line.repeat(3).endsWith(await lastPrinted(bytes))).toBe(true);
  }
  expect(await lastPrinted(all - 1)).toBe(line.repeat(2));
});

test('a line that is longer than what is read of it is cut between characters', async () => {
  const { lastPrinted, printed } = await contextWith(WORD.repeat(10));
  for (let bytes = 0; bytes <= 100; bytes += 1) {
    expect(WORD.repeat(10).endsWith(await lastPrinted(bytes))).toBe(true);
    expect(WORD.repeat(10).startsWith(await printed(bytes))).toBe(true);
  }
  expect(await lastPrinted(9)).toBe('é€😀');
  expect(await printed(9)).toBe('aé€');
});
