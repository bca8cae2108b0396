import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { DepotError, ERROR_STATUS, type ErrorCode } from '../../src/errors.ts';
import { failureFacts, sentence } from '../../src/jobs/explanation.ts';
import type { Job } from '../../src/jobs/job.ts';
import { openJournal } from '../../src/jobs/journal/journal.ts';
import { readEntry, toLine } from '../../src/jobs/journal/record.ts';
import { jobOf } from './job-of.ts';
import { openQueue, request, type OpenQueue } from './open-queue.ts';
import { ended, submitTo } from './queue-of-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
let open: OpenQueue;

beforeEach(async () => {
  folder = await temporaryFolder();
  open = await openQueue(folder);
});

afterEach(async () => {
  open.queue.close();
  await open.journal.close();
});

async function run(params: Record<string, string>): Promise<Job> {
  return ended(await submitTo(open.queue, request('a', params)));
}

test('a job whose step explains why it fails has that on record, and keeps it over a restart', async () => {
  const { id } = await run({ 1: 'fail checksum cannot take it: the sum differs', r1: 'true' });
  await open.journal.close();

  const journal = await openJournal(join(folder, 'state'));
  const job = journal.jobs.find((entry) => entry.id === id);
  await journal.close();
  open = await openQueue(folder);

  expect(job).toMatchObject({
    state: 'failed',
    error: 'cannot take it: the sum differs',
    errorCode: 'checksum',
    remedy: 'Mend the checksum.',
  });
});

test('what the repair could not do does not hide why the job failed', async () => {
  expect(await run({ 1: 'fail checksum cannot take it', r1: 'fail locked cannot mend' })).toEqual(
    expect.objectContaining({
      error: 'cannot take it; the repair failed: cannot mend',
      errorCode: 'checksum',
      remedy: 'Mend the checksum.',
    }),
  );
});

test('a command that fails without an explanation is unknown, and its remedy is the log', async () => {
  expect(await run({ 1: 'exit 7' })).toMatchObject({
    error: 'cannot step 1: exit code 7',
    errorCode: 'unknown',
    remedy: 'Read the end of the task log.',
  });
});

test('a job that is done has neither code nor remedy', async () => {
  const job = await run({ 1: 'true' });

  expect([job.state, job.errorCode, job.remedy]).toEqual(['done', undefined, undefined]);
});

test.each([
  ['that runs', { 1: 'echo on >on; sleep 30' }],
  ['that waits', { 1: 'true' }],
])('a job %s and is stopped has the code stopped', async (which, params) => {
  const ahead =
    which === 'that waits'
      ? await submitTo(open.queue, request('b', { 1: 'sleep 30' }))
      : undefined;
  const job = await submitTo(open.queue, request('a', params));
  if (which === 'that runs') {
    await expect
      .poll(() => readFile(join(folder, 'on'), 'utf8').catch(() => ''), { timeout: 20_000 })
      .toBe('on\n');
  }

  await open.queue.stop(job.id);

  expect(await ended(job)).toMatchObject({ state: 'stopped', errorCode: 'stopped' });
  expect(job.remedy).not.toBe('');
  if (ahead !== undefined) {
    await open.queue.stop(ahead.id);
    await ended(ahead);
  }
});

test('an error with control characters or without end is one line of a bounded length', async () => {
  const { error } = await run({
    1: `fail unknown cannot a\r\n\u001b[31mb\u0007${'x'.repeat(5000)}`,
  });

  expect(error).toHaveLength(1000);
  expect(error).toMatch(/^cannot a \[31mb x+…$/);
});

test('a sentence is never cut in the middle of a character', () => {
  expect(sentence('🎈'.repeat(2000))).not.toMatch(/\p{Cs}/u);
  expect(sentence(`a${'🎈'.repeat(2000)}`)).not.toMatch(/\p{Cs}/u);
});

test.each(Object.keys(ERROR_STATUS) as ErrorCode[])(
  'an error %s without an explanation gets a code and a remedy all the same',
  (code) => {
    const { errorCode, remedy } = failureFacts(new DepotError(code, 'cannot'));

    expect(errorCode).toMatch(/^[a-z_]+$/);
    expect(remedy).toMatch(/^[A-Z].+\.$/);
  },
);

test('a full disk is no_space, whoever says so', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });

  expect(failureFacts(full).errorCode).toBe('no_space');
  expect(failureFacts(new DepotError('no_space', 'cannot')).errorCode).toBe('no_space');
  expect(failureFacts('a text that was thrown').errorCode).toBe('unknown');
});

test('a record without codes is read, and so is one of a later version', () => {
  const job = jobOf('a'.repeat(32), {
    state: 'running',
    phase: 'repair',
    verdict: { state: 'failed', error: 'cannot', exitCode: 1 },
  });
  const known = { ...job, errorCode: 'of-a-later-version', packages: ['a'], remedy: 'Wait.' };

  expect(readEntry(toLine(job))).toEqual({ job: expect.objectContaining(job) as Job });
  expect(readEntry(toLine(known))).toEqual({ job: expect.objectContaining(known) as Job });
});
