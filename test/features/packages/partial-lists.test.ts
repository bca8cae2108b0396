import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { createApkFeedFiles, INDEX_NAME } from '../../device/apk-device/apk-index.ts';
import { createFeedFiles } from '../../device/feed-index.ts';
import { createFeedOf } from '../../device/feed.ts';
import { openApkStore } from '../../package-management/apk/open-store.ts';
import { openStore } from './open-store.ts';

const NOTE = 'a feed lacks its list, and the others do not have what is asked for';

/** After a boot, which took all lists, a feed was added: it alone has a list. */
async function openWithNewFeed(manager: string) {
  const isOpkg = manager === 'opkg';
  const store = await (isOpkg ? openStore() : openApkStore());
  onTestFinished(() => store.close());
  await store.run('install', { package: 'demo' });
  store.device.publish(2);
  const name = 'extra-tool';
  const mine = await createFeedOf(
    isOpkg
      ? createFeedFiles([{ name, version: '1.0-1', architecture: 'all' }])
      : createApkFeedFiles([{ name, version: '1.0-r1', files: {} }]),
  );
  onTestFinished(() => mine.close());
  const lists = isOpkg ? 'var/opkg-lists' : 'tmp/cache/apk';
  await rm(join(store.device.root, lists), { recursive: true, force: true });
  const url = isOpkg ? mine.url : `${mine.url}/${INDEX_NAME}`;
  expect((await store.run('add_feed', { name: 'mine', url })).state).toBe('done');
  return store;
}

describe.each(['opkg', 'apk'])(
  'with %s, while feeds beside a new one lack their lists,',
  (kind) => {
    test('an upgrade of all fetches them before it says that there is nothing newer', async () => {
      const store = await openWithNewFeed(kind);

      const { state, log } = await store.run('upgrade', { all: 'true' });

      expect([state, log.includes(NOTE)]).toEqual(['done', true]);
      expect(String((await store.statusOf('demo')).version)).toMatch(/^1\.1/);
    });

    test('an install fetches them before it says that no feed has it, and not for what one has', async () => {
      const store = await openWithNewFeed(kind);

      expect((await store.run('install', { package: 'extra-tool' })).log).not.toContain('fetched');
      expect((await store.run('install', { package: 'notes' })).state).toBe('done');
    });
  },
);

test('what no feed offers is said, though a feed has no list and cannot be reached', async () => {
  const store = await openWithNewFeed('opkg');
  await store.device.feed.refuse();

  const { error, log } = await store.run('install', { package: 'notes' });

  expect(error).toContain('no feed offers it');
  expect(log).toContain('lab (');
});
