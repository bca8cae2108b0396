import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { createApk } from '../../../device/apk-device/apk.ts';
import { oneProgram as one, openApkStore, WORLD, type ApkStore } from '../open-store.ts';

/** dropbear came with the image, and world has lost the line that asks for it. */
let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore({
    packages: [
      one('dropbear', '1.0-r1', { depends: ['libimage'] }),
      one('libimage', '1.0-r1'),
      one('shell-app', '1.0-r1', { depends: ['dropbear', 'libapp'] }),
      one('libapp', '1.0-r1'),
    ],
  });
});
afterAll(() => store.close());
beforeEach(async () => {
  const { device } = store;
  await device.apk('add', 'dropbear');
  const image = join(device.root, 'rom/lib/apk/db');
  await mkdir(image, { recursive: true });
  await writeFile(
    join(image, 'installed'),
    await readFile(join(device.root, 'lib/apk/db/installed')),
  );
  await setWorld(WORLD);
});
afterEach(async () => {
  await setWorld([...WORLD, ...Object.keys(await store.packages())]);
  await store.clear();
});

const setWorld = (names: readonly string[]): Promise<void> =>
  writeFile(join(store.device.root, 'etc/apk/world'), names.map((name) => `${name}\n`).join(''));

const REFUSED = /^cannot .*: that would remove dropbear, libimage, which came with the firmware/;

test('an app that needs it does not take it along when it goes', async () => {
  await store.device.apk('add', 'shell-app');
  const before = await store.packages();
  const plan = await store.daemon.get('admin/store/plan?operation=remove&package=shell-app');

  const { state, error, remedy } = await store.run('remove', { package: 'shell-app' });

  expect([state, error, remedy]).toEqual([
    'failed',
    expect.stringMatching(REFUSED),
    'Install dropbear, so that it is asked for, then try again.',
  ]);
  expect(await plan.json()).toMatchObject({
    problems: [{ message: expect.stringMatching(REFUSED) as string }],
  });
  expect(await store.packages()).toEqual(before);
});

test('the remedy helps: once it is asked for, the app goes with what came with it', async () => {
  await store.device.apk('add', 'shell-app');
  expect((await store.run('install', { package: 'dropbear' })).state).toBe('done');

  expect((await store.run('remove', { package: 'shell-app' })).state).toBe('done');
  expect(Object.keys(await store.packages())).toEqual(['dropbear', 'libimage']);
});

test('an upload that needs it does not take it along when it is undone', async () => {
  const { id, state } = await store.upload(
    createApk(one('sent', '1.0-r1', { depends: ['dropbear'] })).bytes,
  );
  expect(state).toBe('done');

  expect(await store.run('unrun', { id })).toMatchObject({
    state: 'failed',
    error: expect.stringMatching(REFUSED) as string,
  });
  expect(Object.keys(await store.packages())).toEqual(['dropbear', 'libimage', 'sent']);
});

test('who names it removes it, with what came with it', async () => {
  await store.device.apk('add', 'dropbear');

  expect((await store.run('remove', { package: 'dropbear', system: '1' })).state).toBe('done');
  expect(await store.packages()).toEqual({});
});
