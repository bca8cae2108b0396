import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

import { createProcesses } from '../../src/device/processes.ts';
import { retryFrom, type Act, type CommandStep, type Step } from '../../src/jobs/plan.ts';
import { killAll } from '../faults/process-scan.ts';
import { openQueue, request } from './open-queue.ts';
import { ended, submitTo } from './queue-of-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
beforeEach(async () => (folder = await temporaryFolder()));
/** Settles when the holder of the job is there. */
const seeHolder: Act['act'] = async ({ job }) => {
  await expect.poll(createProcesses().jobsUnderWay).toContain(job.id);
  return undefined;
};

function actOf(id: string, act: Act['act']): Act {
  return { id, label: id, readies: 'last', act };
}

function commandOf(id: string, text = () => id): CommandStep {
  const command: CommandStep['command'] = () => ({
    argv: ['sh', '-c', `echo ${text()} >>ran`],
    environment: PATH,
    cwd: folder,
  });
  return { id, label: id, mustSucceed: true, command };
}

const PATH = { PATH: process.env.PATH ?? '' };

/** @returns the state that the job ends in, and what has run */
async function run(steps: Step[]): Promise<[string, string[]]> {
  const changePlan = () => ({ steps, repair: [] });
  const { queue, journal } = await openQueue(folder, { changePlan });
  const job = await ended(await submitTo(queue, request('demo', {})));
  expect(await createProcesses().jobsUnderWay()).not.toContain(job.id);
  await journal.close();
  const ran = await readFile(join(folder, 'ran'), 'utf8').catch(() => '');
  return [job.state, ran.split('\n').filter(Boolean)];
}

test('a command whose holder was started ahead runs in its turn, and once', async () => {
  expect(await run([actOf('act', seeHolder), commandOf('last')])).toEqual(['done', ['last']]);
});

test('the holder ends if a step ahead of its command fails', async () => {
  const fails: Act['act'] = async (context) => {
    await seeHolder(context);
    throw new Error('no');
  };
  expect(await run([actOf('act', fails), commandOf('last')])).toEqual(['failed', []]);
});

test('another command ahead of it runs, too', async () => {
  const steps = [actOf('act', seeHolder), commandOf('other'), commandOf('last')];
  expect(await run(steps)).toEqual(['done', ['other', 'last']]);
});

test('a step back has the command made anew', async () => {
  let times = 0;
  const goBack: Act['act'] = async (context) => {
    await seeHolder(context);
    times += 1;
    return times === 1 ? retryFrom({ id: 'act' }) : undefined;
  };
  const last = commandOf('last', () => `last-${times}`);
  expect(await run([actOf('act', goBack), last])).toEqual(['done', ['last-1']]);
});

test('a holder that somebody has ended is replaced, and the command runs', async () => {
  const endHolder: Act['act'] = async (context) => {
    await seeHolder(context);
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    for (const pid of pids) {
      const variables = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      // The end of one ends others, which may be gone by now.
      if (variables.includes(context.job.id)) killAll([Number(pid)]);
    }
    await expect.poll(createProcesses().jobsUnderWay).not.toContain(context.job.id);
    return undefined;
  };
  expect(await run([actOf('act', endHolder), commandOf('last')])).toEqual(['done', ['last']]);
});

test('a command is not begun if the stop comes while its holder is put on record', async () => {
  let stop: () => unknown = () => undefined;
  const { queue, journal } = await openQueue(folder, {
    onSaved: ({ process: mark }) => mark && stop(),
  });
  const job = await submitTo(queue, request('demo', { '1': 'touch ran' }));
  stop = () => void queue.stop(job.id);

  expect(await ended(job)).toMatchObject({ state: 'stopped', exitCode: 143 });
  expect(await readdir(folder)).not.toContain('ran');
  await journal.close();
});
