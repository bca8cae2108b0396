import { expect, test } from 'vitest';

import { containerChecks } from '../../../src/features/container-data/checks.ts';

const works = (): Promise<unknown> => Promise.resolve();
const fails = (): Promise<never> => Promise.reject(new Error('cannot read daemon.json'));

test.each([
  { how: 'is readable', read: works, serviceManager: works, state: 'skipped' },
  { how: 'is broken', read: fails, serviceManager: works, state: 'error' },
  {
    how: 'is broken, and nothing starts one',
    read: fails,
    serviceManager: fails,
    state: 'skipped',
  },
])('the doctor finds no engine, whose configuration $how', async (given) => {
  const engine = { ...given, state: () => Promise.resolve({ kind: 'absent' }) };
  const [check] = containerChecks({ engine, settings: given } as never);

  expect(await check?.run()).toMatchObject({ state: given.state });
});
