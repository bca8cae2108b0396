import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import type { Act, CommandStep, Step } from '../../src/jobs/plan.ts';
import { openQueue, request } from './open-queue.ts';
import { ended, submitTo } from './queue-of-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  // A script(1) that hands on what was printed when the command has long ended.
  const late = '#!/bin/sh\n/usr/bin/script "$@" >late\ncode=$?\nsleep 0.3\ncat late\nexit $code\n';
  await writeFile(join(folder, 'script'), late, { mode: 0o755 });
});
const command = (text: string): CommandStep => ({
  id: 'command',
  label: 'command',
  mustSucceed: true,
  command: () => ({
    argv: ['sh', '-c', text],
    environment: { PATH: `${folder}:/usr/bin:/bin` },
    cwd: folder,
  }),
});

const actOf = (act: Act['act']): Act => ({ id: 'act', label: 'act', act });

/** @returns the log of the job */
async function logOf(steps: Step[]): Promise<string> {
  const { queue, journal, logs } = await openQueue(folder, {
    changePlan: () => ({ steps, repair: [] }),
  });
  const job = await ended(await submitTo(queue, request('demo', {})));
  const log = await readFile(logs.fileOf(job.id), 'utf8');
  expect(job.logBytes).toBe(Buffer.byteLength(log));
  await journal.close();
  return log;
}

test('a step behind a command does not wait for the last output unless it reads it', async () => {
  const seen: string[] = [];
  const act = actOf(async ({ lastPrinted, logFile }) => {
    seen.push(await readFile(logFile, 'utf8'));
    seen.push(await lastPrinted(1000));
  });

  await logOf([command('echo last words'), act]);

  expect(seen).toEqual(['', 'last words\r\n']);
});

test('what a step notes stands behind what the command printed', async () => {
  const log = await logOf([command('echo last words'), actOf(({ note }) => note('noted'))]);

  expect(log).toBe('last words\r\ndepotd: noted\r\n');
});

test('so does why a command failed, and its output is whole when the job ends', async () => {
  expect(await logOf([command('echo last words; exit 3')])).toMatch(
    /^last words\r\ndepotd: cannot command: exit code 3\r\n$/,
  );
  expect(await logOf([command('echo last words')])).toBe('last words\r\n');
});
