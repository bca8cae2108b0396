import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { INDEX_NAME } from '../../device/apk-device/apk-index.ts';
import { openApkStore } from '../../package-management/apk/open-store.ts';
import { openStore, type Store } from './open-store.ts';

/** The lists lie in memory: they are gone after a boot. */
async function boot({ device }: Store): Promise<void> {
  await rm(join(device.root, 'var/opkg-lists'), { recursive: true, force: true });
}

test('an install, an upgrade and an upgrade of all right after a boot fetch the lists first', async () => {
  const store = await openStore();
  for (const [operation, form] of [
    ['install', { package: 'demo-app' }],
    ['upgrade', { package: 'demo-app' }],
    ['upgrade', { all: 'true' }],
  ] as const) {
    await boot(store);
    const { state, log } = await store.run(operation, form);
    expect([state, log.includes('they are fetched first')]).toEqual(['done', true]);
  }
  expect((await store.run('upgrade', { all: 'true' })).log).not.toContain('fetched first');
  await store.close();
});

test('without any list and without its feed a job says so; what is there already needs none', async () => {
  const store = await openStore();
  expect((await store.run('install', { package: 'demo-app' })).state).toBe('done');
  await store.device.feed.close();
  await boot(store);

  const reasons = [];
  for (const [operation, form] of [
    ['install', { package: 'other' }],
    ['upgrade', { package: 'demo-app' }],
    ['upgrade', { all: 'true' }],
  ] as const) {
    const task = await store.run(operation, form);
    reasons.push([task.state, (task as { error_code?: string }).error_code]);
    expect(task.error).toMatch(/there are no package lists, and they cannot be fetched: lab \(/);
  }

  expect(reasons).toEqual(Array.from({ length: 3 }, () => ['failed', 'no_lists']));
  expect(await noListsIn(store)).toMatchObject({
    message: expect.stringMatching(
      /^there are no package lists, and the last update failed: lab \(\S+\): ./,
    ) as string,
  });
  expect((await store.run('install', { package: 'demo-app' })).state).toBe('done');
  await store.close();
});

test('without lists nobody is told that all is up to date: not by the list, a plan or the page', async () => {
  const store = await openStore();
  expect((await store.run('install', { package: 'demo-app' })).state).toBe('done');
  const answerOf = async (path: string): Promise<Answer> =>
    (await (await store.daemon.get(`admin/store/${path}`)).json()) as Answer;
  const { lists } = await answerOf('available?kind=all');
  expect(lists).toEqual({ state: 'fresh', updated_at: expect.any(Number) as number });
  const list = join(store.device.root, 'var/opkg-lists/lab');
  const aWeekAgo = Date.now() / 1000 - 8 * 86_400;
  await utimes(list, aWeekAgo, aWeekAgo);
  await expect
    .poll(async () => (await answerOf('available?kind=all')).lists?.state, { timeout: 5000 })
    .toBe('old');

  await boot(store);

  await expect
    .poll(async () => (await answerOf('available?kind=all')).lists, { timeout: 5000 })
    .toMatchObject({ state: 'missing' });
  for (const change of ['install&package=other', 'upgrade&all=true', 'upgrade&package=demo-app']) {
    const { is_possible: isPossible, problems } = await answerOf(`plan?operation=${change}`);
    expect([isPossible, problems?.map(({ code }) => code)]).toEqual([false, ['no_lists']]);
  }
  for (const change of ['install&package=demo-app', 'remove&package=demo-app']) {
    expect((await answerOf(`plan?operation=${change}`)).is_possible).toBe(true);
  }
  await store.close();
});

test('with apk, too, a job says why there are no lists, and what can be done', async () => {
  const store = await openApkStore();
  await store.run('install', { package: 'demo' });
  const loseLists = (): Promise<void> =>
    rm(join(store.device.root, 'tmp/cache/apk'), { recursive: true, force: true });
  const { feed } = store.device;
  const answers = [];
  for (const [what, fault] of [
    ['portal', 'html'],
    ['dead', 'missing'],
  ] as const) {
    await loseLists();
    feed.misbehave(INDEX_NAME, fault);
    const {
      state,
      error_code: code,
      error,
      remedy,
    } = await store.run('install', {
      package: 'other',
    });
    expect(error).toMatch(/there are no package lists, and they cannot be fetched: \w+ \(/);
    answers.push([what, state, code, remedy]);
    const planned = await noListsIn(store);
    expect([planned?.remedy, planned?.message.includes('last update failed: ')]).toEqual([
      ...[remedy, true],
    ]);
  }
  expect(answers).toEqual([
    [
      ...['portal', 'failed', 'no_lists'],
      'Log in to the network first: a web page came in place of the list.',
    ],
    [
      ...['dead', 'failed', 'no_lists'],
      'Check the address of the feed and the internet connection, then try again.',
    ],
  ]);
  expect((await store.run('upgrade', { all: 'true' })).state).toBe('failed');
  expect((await store.run('install', { package: 'demo' })).state).toBe('done');
  await store.close();
});

async function noListsIn({ daemon }: Pick<Store, 'daemon'>): Promise<Found | undefined> {
  const plan = await daemon.get('admin/store/plan?operation=install&package=absent');
  const { problems = [] } = (await plan.json()) as Answer;
  return problems.find(({ code }) => code === 'no_lists');
}

interface Found {
  code: string;
  message: string;
  remedy: string;
}

interface Answer {
  lists?: { state: string; updated_at?: number };
  is_possible?: boolean;
  problems?: Found[];
}
