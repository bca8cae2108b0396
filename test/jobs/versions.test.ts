import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from 'vitest';

import type { Job } from '../../src/jobs/job.ts';
import { startCommand } from '../device/command.ts';
import { bundledProgram } from '../support/bundled-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const DAEMON = await bundledProgram(join(import.meta.dirname, 'queue-daemon.ts'));

let folder: string;

beforeEach(async () => (folder = await temporaryFolder()));

const KILL_DAEMON = 'kill -9 $(cat daemon.pid)';
const effect = (name: string): string => `echo ${name} >>effects`;
const effects = async (): Promise<string[]> =>
  (await readFile(join(folder, 'effects'), 'utf8').catch(() => '')).split('\n').filter(Boolean);

/** The daemon dies in the second step's command, which goes on. */
const IN_STEP_2 = {
  1: effect('1'),
  2: `${KILL_DAEMON}; sleep 0.5; ${effect('2')}`,
  3: effect('3'),
  4: effect('4'),
};

interface Upgrade {
  less?: string;
  more?: string;
  leaves: string[];
}

const UPGRADES: [string, Upgrade][] = [
  ['one step less before that one', { less: '1', leaves: ['1', '2', '3', '4'] }],
  ['one step less after that one', { less: '3', leaves: ['1', '2', '4'] }],
  ['that step less', { less: '2', leaves: ['1', '2', '3', '4'] }],
  ['one step more before that one', { more: '1', leaves: ['1', '2', '3', '4'] }],
  ['one step more after that one', { more: '4', leaves: ['1', '2', '3', '4', '4'] }],
];

describe('a job in the middle of a step', () => {
  test.each(UPGRADES)(
    'goes on at its step under a version whose plan has %s, and does each step once',
    async (_, { less, more, leaves }) => {
      await crash(IN_STEP_2);

      expect(await resume({ less, more })).toMatchObject({ state: 'done', exitCode: 0 });

      expect(await effects()).toEqual(leaves);
    },
  );

  test('is repaired from the step that its repair was at', async () => {
    await crash({
      1: 'exit 7',
      r1: effect('r1'),
      r2: `${KILL_DAEMON}; sleep 0.5; ${effect('r2')}`,
      r3: effect('r3'),
    });

    expect(await resume({ less: 'r1' })).toMatchObject({ state: 'failed', exitCode: 7 });

    expect(await effects()).toEqual(['r1', 'r2', 'r3']);
  });
});

test('a job whose step is gone from the plan says in its log where it goes on', async () => {
  await crash(IN_STEP_2);

  const { id } = await resume({ less: '2' });

  expect(await readFile(join(folder, 'logs', `${id}.log`), 'utf8')).toContain(
    'depotd: this version has no step "2": the job goes on at step 3\r\n',
  );
});

test('a job that is to go back to a step that is not in the plan fails, says so and is repaired', async () => {
  const job = await run({ 1: 'again nowhere', 2: effect('2'), r1: effect('r1') });

  expect(job).toMatchObject({
    state: 'failed',
    exitCode: 1,
    error: 'cannot go back to the step "nowhere": it is not in the plan',
  });
  expect(await effects()).toEqual(['r1']);
});

test('a repair that is to go back to a step that is not in the plan goes on with its next step', async () => {
  const job = await run({ 1: 'exit 7', r1: 'again nowhere', r2: effect('r2') });

  expect(job).toMatchObject({ state: 'failed', exitCode: 7 });
  expect(await effects()).toEqual(['r2']);
});

test('a plan in which an id stands for two steps fails its job, which does none of them', async () => {
  const job = await run({ 1: effect('1'), 2: effect('2') }, { more: '2', twice: true });

  expect(job).toMatchObject({ state: 'failed' });
  expect(job.error).toContain('two steps of the id "2"');
  expect(await effects()).toEqual([]);
});

interface Version {
  less?: string | undefined;
  more?: string | undefined;
  twice?: boolean;
}

async function run(params: Record<string, string>, version: Version = {}): Promise<Job> {
  return jobIn(await start(version, JSON.stringify(params)).outcome);
}

async function crash(params: Record<string, string>): Promise<void> {
  const { code, stderr } = await start({}, JSON.stringify(params)).outcome;
  if (code !== 137) throw new Error(`cannot crash: ${code} ${stderr}`);
}

async function resume(version: Version): Promise<Job> {
  return jobIn(await start(version).outcome);
}

function jobIn({ stdout, stderr }: { stdout: string; stderr: string }): Job {
  const printed = stdout.split('\n').find((line) => line.startsWith('{'));
  if (printed === undefined) throw new Error(`cannot run: ${stderr}`);
  return JSON.parse(printed) as Job;
}

function start({ less = '', more = '', twice = false }: Version, ...words: string[]) {
  const env = {
    ...process.env,
    DEPOTD_LESS: less,
    DEPOTD_MORE: more,
    ...(twice ? { DEPOTD_TWICE: 'yes' } : {}),
  };
  return startCommand(['node', DAEMON, folder, 'none', ...words], { env });
}
