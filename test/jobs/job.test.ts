import { expect, test } from 'vitest';

import { checkChange, isEnded, JOB_STATES, type JobState } from '../../src/jobs/job.ts';

const ALLOWED: readonly string[] = [
  'queued → running',
  'queued → stopped',
  'running → done',
  'running → failed',
  'running → stopped',
  'running → interrupted',
];
const CHANGES = JOB_STATES.flatMap((from) =>
  JOB_STATES.map((to): [JobState, JobState] => [from, to]),
);

test.each(CHANGES)('%s → %s is as the contract has it', (state, next) => {
  const change = (): void => checkChange({ id: 'a', state }, next);

  if (ALLOWED.includes(`${state} → ${next}`)) expect(change).not.toThrow();
  else expect(change).toThrow(`cannot call the ${state} job a ${next}`);
});

test('what has ended leads nowhere', () => {
  expect(JOB_STATES.filter(isEnded)).toEqual(['done', 'failed', 'stopped', 'interrupted']);
});
