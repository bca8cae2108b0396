import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

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
  expect((await store.run('install', { package: 'demo-app' })).state).toBe('done');
  await store.close();
});
