import { expect, test } from 'vitest';

import { describeTask } from '../../../src/features/tasks/routes.ts';
import { jobOf } from '../../jobs/job-of.ts';

const NOON = 1_795_000_000;

test.each([
  ['ran', { startedAt: NOON }],
  ['was dropped while it waited', {}],
])('a task that %s when the clock was set back did not end before it began', (_, given) => {
  const job = jobOf('a', { createdAt: NOON, state: 'done', exitCode: 0, ...given });

  expect(describeTask({ ...job, stoppedAt: NOON - 3600 })).toMatchObject({
    ...{ start: NOON, stop: NOON },
  });
  expect(describeTask({ ...job, stoppedAt: NOON + 5 })).toMatchObject({ stop: NOON + 5 });
});
