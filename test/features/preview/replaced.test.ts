import { afterAll, beforeAll, expect, test } from 'vitest';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { planOf } from './preview-answer.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore({
    hasUsual: false,
    packages: [
      // opkg reads what nothing leads to as if it were not there.
      simplePackage('former', { fields: { Depends: 'libc, successor' } }),
      simplePackage('successor', { fields: { Conflicts: 'former', Replaces: 'former' } }),
    ],
  });
});
afterAll(() => store.close());

test.each(['before', 'after'])(
  'what another package replaces is not promised, %s that one is there',
  async (when) => {
    if (when === 'after') await store.run('install', { package: 'successor' });
    const before = await store.packages();

    const plan = await planOf(store.daemon, 'install', 'former');

    expect(plan.is_possible).toBe(false);
    expect(plan.problems.map(({ code, package: name }) => [code, name])).toEqual([
      ['dependency_conflict', 'former'],
    ]);
    expect(plan.problems[0]?.message).toContain('successor');
    expect(plan.problems[0]?.remedy).toContain('successor');
    const task = await store.run('install', { package: 'former' });
    expect(task).toMatchObject({
      state: 'failed',
      error_code: 'dependency_conflict',
      error: plan.problems[0]?.message,
      remedy: plan.problems[0]?.remedy,
    });
    expect(await store.packages()).toEqual(before);
  },
);
