import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { createApkFeedFiles, INDEX_NAME } from '../../device/apk-device/apk-index.ts';
import { oneProgram as one, openApkStore, type ApkStore } from './open-store.ts';

/** What a feed with a tag offers is for whom world asks for with the tag. */
let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore({ packages: [one('plain', '1.0-r1'), one('both', '1.0-r1')] });
  const folder = join(store.device.root, 'mnt/edge');
  await mkdir(folder, { recursive: true });
  const packages = [one('plain', '2.0-r1'), one('both', '1.0-r1'), one('only-edge', '1.0-r1')];
  for (const [name, bytes] of createApkFeedFiles(packages)) {
    await writeFile(join(folder, name), bytes);
  }
  const list = join(store.device.root, 'etc/apk/repositories.d/customfeeds.list');
  await writeFile(list, `@edge ${join(folder, INDEX_NAME)}\n`);
  expect((await store.run('update')).state).toBe('done');
});
afterAll(() => store.close());

interface Listed {
  name: string;
  version: string;
  upgradable: boolean;
}

async function listed(query: string): Promise<Listed[]> {
  const answer = await store.daemon.get(`admin/store/available?kind=all&${query}`);
  return ((await answer.json()) as { items: Listed[] }).items;
}

test('without the tag in world, its versions are neither listed nor waited for', async () => {
  const { error } = await store.run('install', { package: 'plain' });
  expect(error).toBeUndefined();

  expect(await listed('q=edge')).toEqual([]);
  expect(await listed('q=plain')).toMatchObject([{ name: 'plain', version: '1.0-r1' }]);
  expect(await listed('state=upgradable')).toEqual([]);
  const upgrade = await store.run('upgrade', { package: 'plain' });
  expect([upgrade.state, upgrade.log]).toEqual([
    'done',
    expect.stringContaining('nothing to do: no feed offers a newer version of plain'),
  ]);
  expect((await store.run('upgrade', { all: 'true' })).state).toBe('done');
  expect(await store.packages()).toEqual({ plain: '1.0-r1' });
});

test('what only that feed has is refused, and the tag is named', async () => {
  expect(await store.run('install', { package: 'only-edge' })).toMatchObject({
    state: 'failed',
    error: 'cannot install only-edge: it is offered by a feed with the tag @edge alone',
  });
});

test('a package that an untagged feed has, too, is offered', async () => {
  expect(await listed('q=both')).toMatchObject([{ name: 'both', version: '1.0-r1' }]);
});

test('with the tag in world, the package is upgraded from the feed', async () => {
  const lines = (await store.device.world()).map((line) =>
    line === 'plain' ? 'plain@edge' : line,
  );
  await writeFile(join(store.device.root, 'etc/apk/world'), `${lines.join('\n')}\n`);

  expect(await listed('state=upgradable')).toMatchObject([{ name: 'plain', version: '2.0-r1' }]);
  const upgrade = await store.run('upgrade', { package: 'plain' });
  expect([upgrade.state, upgrade.error]).toEqual(['done', undefined]);
  expect(await store.packages()).toEqual({ plain: '2.0-r1' });
  expect(await store.device.world()).toContain('plain@edge');
});
