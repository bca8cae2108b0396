import { beforeEach, expect, test } from 'vitest';

import type { Act, CommandStep, Step } from '../../src/jobs/plan.ts';
import { openQueue, request } from './open-queue.ts';
import { ended, submitTo } from './queue-of-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
let events: string[];
beforeEach(async () => {
  folder = await temporaryFolder();
  events = [];
});
function actOf(id: string, isRecorded = false): Act {
  const act: Act['act'] = ({ memory }) => {
    events.push(id);
    Object.assign(memory, { [id]: 'done' });
    return Promise.resolve(undefined);
  };
  return { id, label: id, isRecorded, act };
}

const commandOf = (id: string, text?: string): CommandStep => ({
  id,
  label: id,
  mustSucceed: true,
  command: () =>
    text === undefined
      ? undefined
      : { argv: ['sh', '-c', text], environment: { PATH: '/usr/bin:/bin' }, cwd: folder },
});

/** @returns what was done and what was put on record, in that order */
async function eventsOf(steps: Step[]): Promise<string[]> {
  const { queue, journal } = await openQueue(folder, {
    changePlan: () => ({ steps, repair: [] }),
    onSaved: ({ done, memory, process: mark }) => {
      const more = mark === undefined ? '' : ', and its holder';
      events.push(`on record: ${done.join()} ${Object.keys(memory).join()}${more}`);
    },
  });
  await ended(await submitTo(queue, request('demo', {})));
  await journal.close();
  return events.slice(1);
}

test('what a step did is on record before the next one begins', async () => {
  expect(await eventsOf([actOf('one', true), actOf('two')])).toEqual([
    'one',
    'on record: one one',
    'two',
  ]);
});

test('before a command that is one record with its holder', async () => {
  expect(await eventsOf([actOf('one', true), commandOf('command', 'true')])).toEqual([
    'one',
    'on record: one one, and its holder',
  ]);
});

test('before a step behind a command that has nothing to run it is one of its own', async () => {
  expect(await eventsOf([actOf('one', true), commandOf('command'), actOf('two')])).toEqual([
    'one',
    'on record: one,command one',
    'two',
  ]);
});
