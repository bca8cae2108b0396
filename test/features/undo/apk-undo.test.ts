import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import {
  oneProgram as one,
  openApkStore,
  type ApkStore,
} from '../../package-management/apk/open-store.ts';
import { treeOf } from './undo-tree.ts';

let store: ApkStore;
beforeEach(async () => {
  store = await openApkStore({
    packages: [
      one('needed', '1.0-r1'),
      one('app', '1.0-r1', { depends: ['needed'], files: { '/etc/app.conf': 'of the feed\n' } }),
      one('sent', '1.0-r1'),
    ],
  });
});
afterEach(() => store.close());

const world = (): Promise<string> => readFile(join(store.device.root, 'etc/apk/world'), 'utf8');
const whatIs = async (): Promise<unknown> => ({
  packages: await store.packages(),
  world: (await world()).split('\n').sort(),
  tree: await treeOf(store.device.root),
});

test.each(['install', 'remove', 'upload'])(
  'with apk, too, %s is undone with what came or went, and so is the undo',
  async (operation) => {
    if (operation === 'remove') await store.run('install', { package: 'app' });
    if (operation === 'upload') await store.run('install', { package: 'sent' });
    const before = await whatIs();
    const bytes = createApk(one('sent', '2.0-r1')).bytes;
    const { id, state } =
      operation === 'upload'
        ? await store.upload(bytes)
        : await store.run(operation, { package: 'app' });
    expect(state).toBe('done');
    const after = (await whatIs()) as { packages: object };

    const undone = await store.run('undo', { task_id: id });
    expect([undone.state, undone.error]).toEqual(['done', undefined]);
    expect(await whatIs()).toEqual(before);

    const again = await store.run('undo', { task_id: undone.id });
    expect([again.state, again.error]).toEqual(['done', undefined]);
    expect(await store.packages()).toEqual(after.packages);
  },
);

test('an upgrade of all that took one back is undone with the others, and alone is no change', async () => {
  for (const name of ['app', 'sent']) await store.run('install', { package: name });
  const scripts = { 'post-upgrade': '#!/bin/sh\nexit 7\n' };
  store.device.publishPackages([one('sent', '2.0-r1', { scripts }), one('needed', '2.0-r1')]);
  await store.run('update');
  const before = await whatIs();
  const alone = await store.run('upgrade', { package: 'sent' });
  const all = await store.run('upgrade', { all: 'true' });
  expect([alone.state, all.state, all.packages]).toEqual(['failed', 'failed', ['needed']]);

  expect(await store.daemon.status(alone.id)).toMatchObject({ no_undo: 'It changed nothing.' });
  const undone = await store.run('undo', { task_id: all.id });

  expect([undone.state, undone.error]).toEqual(['done', undefined]);
  expect(await whatIs()).toEqual(before);
});

test('what the owner changes while a large package is fetched is not undone with it', async () => {
  const text = randomBytes(540_000).toString('base64');
  const large = one('large', '1.0-r1', { files: { '/usr/share/large': text } });
  store.device.publishPackages([large]);
  await store.run('update');
  const mine = join(store.device.root, 'etc/mine');
  await writeFile(mine, 'before\n');
  store.device.feed.misbehave('large-1.0-r1.apk', 'slow');
  const id = await store.daemon.submit('install', { package: 'large' });
  await expect.poll(async () => (await store.daemon.status(id)).progress.label).toBe('fetch');
  await expect.poll(() => store.daemon.logOf(id)).toMatch(/large/);
  await writeFile(mine, 'after\n');
  expect((await store.daemon.finished(id)).state).toBe('done');

  expect((await store.run('undo', { task_id: id })).state).toBe('done');

  expect(await readFile(mine, 'utf8')).toBe('after\n');
  expect(await store.packages()).not.toHaveProperty('large');
});

test.each(['install', 'remove'])(
  'what came as a file is still bound to a file once its %s is undone',
  async (operation) => {
    expect((await store.upload(createApk(one('sent', '2.0-r1')).bytes)).state).toBe('done');
    const { id, state } = await store.run(operation, { package: 'sent' });
    expect(state).toBe('done');
    expect(await world()).not.toContain('sent><');

    expect((await store.run('undo', { task_id: id })).state).toBe('done');

    const [, hash = ''] = /^C:(\S+)\nP:sent$/m.exec(
      await readFile(join(store.device.root, 'lib/apk/db/installed'), 'utf8'),
    ) ?? ['', ''];
    expect(await world()).toContain(`\nsent><${hash}\n`);
  },
);

test('another build of the same version is not said to be undone', async () => {
  const build = (text: string): Buffer =>
    createApk({ name: 'sent', version: '1.0-r1', files: { '/usr/bin/sent': text } }).bytes;
  await store.upload(build('first'));
  const { id, state } = await store.upload(build('second'));
  expect(state).toBe('done');
  expect(await store.daemon.status(id)).toMatchObject({
    can_undo: false,
    no_undo: 'There is no copy of sent 1.0-r1.',
  });
});
