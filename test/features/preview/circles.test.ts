import { expect, test } from 'vitest';
import type { FeedPackage } from '../../device/feed-index.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { aroundTests } from '../../support/around-tests.ts';
import { openStore, type Store } from '../packages/open-store.ts';
import { changesIn, planOf } from './preview-answer.ts';

let store: Store;
const nothingChanged = aroundTests(
  async () => {
    store = await openStore({ packages: CIRCLE, hasUsual: false });
  },
  () => store.close(),
);

test('packages that need each other can be removed, and the plan says so', async () => {
  await store.run('install', { package: 'ring-a' });
  expect(Object.keys(await store.packages())).toEqual(['ring-a', 'ring-b']);

  const plan = await planOf(store.daemon, 'remove', 'ring-a');

  expect(plan).toMatchObject({ is_possible: true, problems: [] });
  expect(changesIn(plan).removes).toEqual(['ring-a 1.0-1', 'ring-b 1.0-1']);
  expect(await store.run('remove', { package: 'ring-a' })).toMatchObject({ state: 'done' });
  expect(await store.packages()).toEqual({});
  nothingChanged();
});

test('a package that needs what it provides itself can be removed', async () => {
  await store.run('install', { package: 'selfish' });

  expect(await planOf(store.daemon, 'remove', 'selfish')).toMatchObject({ is_possible: true });
  expect(await store.run('remove', { package: 'selfish' })).toMatchObject({ state: 'done' });
  expect(await store.packages()).toEqual({});
  nothingChanged();
});

test('nothing of a circle stays after an installation that failed', async () => {
  const failed = await store.run('install', { package: 'broken-user' });

  expect(failed).toMatchObject({ state: 'failed', error_code: 'script_failed' });
  expect(await store.packages()).toEqual({});
  expect(failed.log).toContain('nothing stays half installed');
  nothingChanged();
});

test('a circle that something else needs stays', async () => {
  await store.run('install', { package: 'user' });
  const before = await store.packages();

  const plan = await planOf(store.daemon, 'remove', 'ring-a');

  expect(plan.is_possible).toBe(false);
  expect(plan.problems.map(({ code }) => code)).toContain('needed_by');
  expect(await store.run('remove', { package: 'ring-a' })).toMatchObject({
    state: 'failed',
    error_code: 'needed_by',
  });
  expect(await store.packages()).toEqual(before);
});

const CIRCLE: FeedPackage[] = [
  simplePackage('ring-a', { fields: { Depends: 'libc, ring-b' } }),
  simplePackage('ring-b', { fields: { Depends: 'libc, ring-a' } }),
  simplePackage('selfish', { fields: { Depends: 'libc, virtual', Provides: 'virtual' } }),
  simplePackage('user', { fields: { Depends: 'libc, ring-b' } }),
  simplePackage('broken-user', {
    fields: { Depends: 'libc, ring-a' },
    scripts: { postinst: '#!/bin/sh\nexit 7\n' },
  }),
];
