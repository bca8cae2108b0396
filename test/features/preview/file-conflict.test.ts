import { afterEach, expect, test } from 'vitest';

import { openApkStore } from '../../package-management/apk/open-store.ts';
import { openStore } from '../packages/open-store.ts';
import { planOf } from './preview-answer.ts';

type AnyStore = Pick<
  Awaited<ReturnType<typeof openStore>>,
  'daemon' | 'run' | 'packages' | 'close'
>;

let store: AnyStore;
afterEach(() => store.close());

test.each([
  { manager: 'opkg', open: (): Promise<AnyStore> => openStore() },
  { manager: 'apk', open: (): Promise<AnyStore> => openApkStore() },
])('with $manager a file of another package is found by the task alone', async ({ open }) => {
  store = await open();
  await store.run('install', { package: 'demo' });
  const before = await store.packages();

  const plan = await planOf(store.daemon, 'install', 'clash');
  const task = await store.run('install', { package: 'clash' });

  expect(plan).toMatchObject({ is_possible: true, problems: [] });
  expect(task).toMatchObject({ state: 'failed', error_code: 'file_conflict' });
  expect(task.error).toContain('/usr/bin/demo-app');
  expect(await store.packages()).toEqual(before);
});
