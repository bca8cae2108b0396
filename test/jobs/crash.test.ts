import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, expect, test } from 'vitest';

import type { Job } from '../../src/jobs/job.ts';
import { startCommand, type RunningCommand } from '../device/command.ts';
import { bundledProgram } from '../support/bundled-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const DAEMON = await bundledProgram(join(import.meta.dirname, 'queue-daemon.ts'));

let folder: string;

beforeEach(async () => (folder = await temporaryFolder()));

const KILLED = 137;
const KILL_DAEMON = 'kill -9 $(cat daemon.pid)';
const effect = (name: string): string => `echo ${name} >>effects`;
const effects = async (): Promise<string[]> =>
  (await readFile(join(folder, 'effects'), 'utf8').catch(() => '')).split('\n').filter(Boolean);

interface Crash {
  point: string;
  steps: Record<string, string>;
  /** Whether the next daemon waits until the command has ended. */
  isLate?: boolean;
  ends: Partial<Job>;
  leaves: string[];
}

const TWO_STEPS = { 1: effect('1'), 2: effect('2') };
const FAILING = { 1: 'exit 7', 2: effect('2'), r1: effect('r1'), r2: effect('r2') };
const DONE = { state: 'done', exitCode: 0 } as const;
const FAILED = { state: 'failed', exitCode: 7, error: 'cannot step 1: exit code 7' } as const;

const CRASHES: [string, Crash][] = [
  [
    'after the job was accepted',
    { point: 'accepted', steps: TWO_STEPS, ends: DONE, leaves: ['1', '2'] },
  ],
  [
    'after its start was put on record',
    { point: 'started', steps: TWO_STEPS, ends: DONE, leaves: ['1', '2'] },
  ],
  [
    'between the begin of a command and its record',
    {
      point: 'begun, not recorded',
      steps: TWO_STEPS,
      isLate: true,
      ends: DONE,
      leaves: ['1', '2'],
    },
  ],
  [
    'between the record of a command and its go',
    { point: 'held', steps: TWO_STEPS, ends: DONE, leaves: ['1', '2'] },
  ],
  [
    'while a command runs',
    {
      point: 'none',
      steps: { ...TWO_STEPS, 1: `${KILL_DAEMON}; sleep 1.5; ${effect('1')}` },
      ends: DONE,
      leaves: ['1', '2'],
    },
  ],
  [
    'while a command runs that ends before the next daemon comes',
    {
      point: 'none',
      steps: { ...TWO_STEPS, 1: `${KILL_DAEMON}; ${effect('1')}` },
      isLate: true,
      ends: DONE,
      leaves: ['1', '2'],
    },
  ],
  [
    'while a command runs that then fails',
    {
      point: 'none',
      steps: { ...FAILING, 1: `${KILL_DAEMON}; exit 7` },
      isLate: true,
      ends: FAILED,
      leaves: ['r1', 'r2'],
    },
  ],
  [
    'in an act',
    {
      point: 'act',
      steps: { 1: effect('1'), 2: 'crash', 3: effect('3') },
      ends: DONE,
      leaves: ['1', '3'],
    },
  ],
  [
    'at the begin of the repair',
    { point: 'repair begun', steps: FAILING, ends: FAILED, leaves: ['r1', 'r2'] },
  ],
  [
    'between the record of a command of the repair and its go',
    { point: 'repair held', steps: FAILING, ends: FAILED, leaves: ['r1', 'r2'] },
  ],
];

test.each(CRASHES)(
  'a daemon killed %s: the next one takes the job to its right end, each command run once',
  async (_, { point, steps, isLate = false, ends, leaves }) => {
    await crash(point, steps);
    if (isLate) await expect.poll(exitCodes, { timeout: 10_000 }).toHaveLength(1);

    expect(await resume()).toMatchObject(ends);

    expect(await effects()).toEqual(leaves);
  },
);

test('what a command prints while there is no daemon is in the log, once', async () => {
  await crash('none', {
    1: `echo before; ${KILL_DAEMON}; for number in 1 2 3 4 5; do echo $number; sleep 0.1; done`,
  });

  const { id } = await resume();

  const log = await readFile(join(folder, 'logs', `${id}.log`), 'utf8');
  expect(log.replaceAll('\r\n', '\n')).toBe('before\n1\n2\n3\n4\n5\n');
});

test('a command that was killed together with its holder while there was no daemon has failed, and is repaired', async () => {
  await crash('none', { 1: `${KILL_DAEMON}; sleep 30`, r1: effect('r1') });
  const { process: mark } = await record();
  process.kill(mark?.pid ?? 0, 'SIGKILL');

  expect(await resume()).toMatchObject({ state: 'failed', exitCode: KILLED });

  expect(await effects()).toEqual(['r1']);
});

test('a job that killed the daemon three times without a step getting done fails, and is repaired', async () => {
  await crash('act', { 1: effect('1'), 2: 'crash', 3: effect('3'), r1: effect('r1') });
  await crash('act');
  await crash('act');

  expect(await resume('act')).toMatchObject({
    state: 'failed',
    exitCode: 1,
    error: 'cannot get on: taken up 3 times without a step getting done',
  });

  expect(await effects()).toEqual(['1', 'r1']);
});

test('a repair that kills the daemon three times is given up', async () => {
  await crash('act', { 1: 'exit 7', r1: 'crash', r2: effect('r2') });
  await crash('act');
  await crash('act');

  expect(await resume('act')).toMatchObject(FAILED);
});

test('after another boot a running job is interrupted, and its repair runs', async () => {
  await crash('none', { 1: `${KILL_DAEMON}; sleep 0.5`, 2: effect('2'), r1: effect('r1') });
  await rebootOnRecord();

  expect(await resume()).toMatchObject({
    state: 'interrupted',
    exitCode: 143,
    error: 'the device went down while the job was running',
  });

  expect(await effects()).toEqual(['r1']);
});

test('a machine that goes down in the repair too does the repair again and keeps the first verdict', async () => {
  await crash('repair held', FAILING);
  await rebootOnRecord();

  expect(await resume()).toMatchObject(FAILED);

  expect(await effects()).toEqual(['r1', 'r2']);
});

test('after another boot a queued job still runs', async () => {
  await crash('accepted', TWO_STEPS);
  await rebootOnRecord();

  expect(await resume()).toMatchObject(DONE);
});

test('a stop asked for before the daemon died holds after it', async () => {
  await crash('none', {
    1: `trap "exit 130" INT; ${KILL_DAEMON}; while :; do sleep 0.02; done`,
    2: effect('2'),
    r1: effect('r1'),
  });
  const job = await record();
  await writeFile(journalFile(), `${JSON.stringify({ ...job, stopRequested: true })}\n`);

  expect(await resume()).toMatchObject({ state: 'stopped', exitCode: 130 });

  expect(await effects()).toEqual(['r1']);
});

function startQueue(point: string, params?: Record<string, string>): RunningCommand {
  const words = params === undefined ? [] : [JSON.stringify(params)];
  return startCommand(['node', DAEMON, folder, point, ...words]);
}

async function crash(point: string, params?: Record<string, string>): Promise<void> {
  const daemon = startQueue(point, params);
  const code = await daemon.exit;
  if (code !== KILLED) {
    throw new Error(`cannot crash at "${point}": ${JSON.stringify(await daemon.outcome)}`);
  }
}

async function resume(point = 'none'): Promise<Job> {
  const { stdout, stderr } = await startQueue(point).outcome;
  const printed = stdout.split('\n').find((line) => line.startsWith('{'));
  if (printed === undefined) throw new Error(`cannot resume: ${stderr}`);
  return JSON.parse(printed) as Job;
}

function journalFile(): string {
  return join(folder, 'state/jobs.jsonl');
}

async function record(): Promise<Job> {
  const lines = (await readFile(journalFile(), 'utf8')).trimEnd().split('\n');
  return JSON.parse(lines.at(-1) ?? '') as Job;
}

/** Makes the records look like those of an earlier boot. */
async function rebootOnRecord(): Promise<void> {
  const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'latin1')).trim();
  await writeFile(
    journalFile(),
    (await readFile(journalFile(), 'utf8')).replaceAll(
      bootId,
      '00000000-0000-0000-0000-000000000000',
    ),
  );
}

/** How the commands that have ended did. */
async function exitCodes(): Promise<string[]> {
  const exits = join(folder, 'logs/exits');
  const files = await readdir(exits);
  const texts = await Promise.all(files.map((name) => readFile(join(exits, name), 'utf8')));
  return texts.flatMap((text) => /^(?:\d+|not-run)(?=\n)/.exec(text)?.[0] ?? []);
}
