import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

import { createApkFeedFiles, INDEX_NAME } from '../../device/apk-device/apk-index.ts';
import { createFeedFiles } from '../../device/feed-index.ts';
import { createFeedOf } from '../../device/feed.ts';
import { openApkStore } from '../../package-management/apk/open-store.ts';
import { openStore, type Store } from './open-store.ts';

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

    test('a feed that has failed is left alone for two minutes, and the list says that it lacks', async () => {
      const store = await openWithNewFeed(kind);
      const [lab = ''] = (await missingIn(store)) ?? [];
      await store.device.feed.refuse();
      const logs: string[] = [];
      for (const [operation, form] of [
        ['upgrade', { all: 'true' }],
        ['upgrade', { all: 'true' }],
        ['install', { package: 'notes' }],
        ['install', { package: 'notes' }],
      ] as const) {
        logs.push((await store.run(operation, form)).log);
      }

      expect(logs.map((log) => log.includes('they are fetched first'))).toEqual([
        ...[true, false, false, false],
      ]);
      expect(lab).not.toBe('');
      expect(await missingIn(store)).toEqual([lab]);
      await store.device.feed.listen();
      await store.run('update');
      expect((await store.run('install', { package: 'notes' })).state).toBe('done');
      await expect.poll(() => missingIn(store)).toBe(undefined);
    });
  },
);

/** Names of the feeds that lack their lists. */
async function missingIn({ daemon }: Pick<Store, 'daemon'>): Promise<string[] | undefined> {
  const answer = await daemon.get('admin/store/available?kind=all');
  return ((await answer.json()) as { lists: { missing?: string[] } }).lists.missing;
}

test('an index of apk on the device itself is never missing, nor fetched', async () => {
  const store = await openApkStore();
  onTestFinished(() => store.close());
  const files = createApkFeedFiles([{ name: 'extra-tool', version: '1.0-r1', files: {} }]);
  for (const [name, content] of files) {
    await writeFile(join(store.device.root, 'tmp', name), content);
  }
  const feeds = join(store.device.root, 'etc/apk/repositories.d');
  const index = join(store.device.root, 'tmp', INDEX_NAME);
  await writeFile(join(feeds, 'mine.list'), `${index}\n`);

  expect(await missingIn(store)).toBe(undefined);
  const { state, log } = await store.run('upgrade', { all: 'true' });
  expect([state, log.includes('fetched first')]).toEqual(['done', false]);
  for (const name of await readdir(feeds)) if (name !== 'mine.list') await rm(join(feeds, name));
  await rm(join(store.device.root, 'tmp/cache/apk'), { recursive: true, force: true });
  const installed = await store.run('install', { package: 'extra-tool' });
  expect([installed.state, installed.log.includes('fetched first')]).toEqual(['done', false]);
});

test('what no feed offers is said, though a feed has no list and cannot be reached', async () => {
  const store = await openWithNewFeed('opkg');
  await store.device.feed.refuse();

  const { error, log } = await store.run('install', { package: 'notes' });

  expect(error).toContain('no feed offers it');
  expect(log).toContain('lab (');
});
