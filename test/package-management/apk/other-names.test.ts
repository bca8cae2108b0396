import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import { oneProgram as one, openApkStore, WORLD, type ApkStore } from './open-store.ts';

/** Names that stand for packages, and what world says of packages beside their names. */
let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore({
    packages: [
      one('plain', '1.0-r1'),
      one('full', '2.0-r1', { provides: ['some=2.0'] }),
      one('other', '1.0-r1'),
      one('app-meta-new', '1.0-r1', { provides: ['old=5.0'] }),
      one('old', '1.0-r1'),
      one('taker', '1.0-r1', { replaces: ['busybox'], files: { '/bin/busybox': 'mine\n' } }),
    ],
  });
});
afterAll(() => store.close());

const setWorld = (...lines: readonly string[]): Promise<void> =>
  writeFile(join(store.device.root, 'etc/apk/world'), `${lines.join('\n')}\n`);

afterEach(async () => {
  await setWorld(...WORLD, ...Object.keys(await store.packages()));
  await store.clear();
});

describe('what was asked for by the name of what it provides', () => {
  test.each(['some', 'full'])('is removed as %s, and nothing brings it back', async (name) => {
    expect((await store.run('install', { package: 'some' })).state).toBe('done');
    expect(await store.device.world()).toEqual([...WORLD, 'some']);

    const plan = await store.daemon.get(`admin/store/plan?operation=remove&package=${name}`);
    const { state, error } = await store.run('remove', { package: name });

    expect(await plan.json()).toMatchObject({
      is_possible: true,
      removes: [{ name: 'full' }],
    });
    expect([state, error]).toEqual(['done', undefined]);
    expect([await store.packages(), await store.device.world()]).toEqual([{}, WORLD]);
  });

  test('goes under all names that it was asked for by', async () => {
    await store.run('install', { package: 'new' });
    await store.run('install', { package: 'old' });
    expect(await store.device.world()).toEqual(['app-meta-new', ...WORLD, 'old'].sort());

    // Its owner asked for the other one, too.
    expect(await store.run('remove', { package: 'old' })).toMatchObject({
      state: 'failed',
      error_code: 'not_found',
    });
    expect((await store.run('remove', { package: 'new' })).state).toBe('done');
    expect([await store.packages(), await store.device.world()]).toEqual([{}, WORLD]);
  });
});

describe('a file of what the device cannot do without', () => {
  const program = (): Promise<string> => readFile(join(store.device.root, 'bin/busybox'), 'utf8');

  test.each([
    ['a package of a feed', () => store.run('install', { package: 'taker' })],
    [
      'a file that is sent',
      () =>
        store.upload(
          createApk(
            one('taker', '1.0-r1', { replaces: ['busybox'], files: { '/bin/busybox': 'mine\n' } }),
          ).bytes,
        ),
    ],
  ])('is not taken over by %s, whatever that says: it would go with it', async (_, install) => {
    const before = await program();

    expect(await install()).toMatchObject({
      state: 'failed',
      error: 'cannot install taker: it would take over /bin/busybox, which belongs to busybox',
      error_code: 'file_conflict',
      remedy: 'Do not install taker: the device cannot do without busybox.',
    });
    expect(await program()).toBe(before);
  });
});

test.each([
  {
    line: 'other<1.0',
    code: 'held',
    reason: 'other is held: /etc/apk/world asks for other<1.0',
    remedy: 'Release other from its hold, then try again.',
  },
  {
    line: '!libc',
    code: 'dependency_conflict',
    reason: '/etc/apk/world forbids libc',
    remedy: 'Take !libc out of /etc/apk/world, then try again.',
  },
  {
    line: 'other@edge',
    code: 'dependency_missing',
    reason: '/etc/apk/world asks for other@edge, and no feed has that tag',
    remedy: 'Add the feed with the tag, or take the tag out of /etc/apk/world.',
  },
])('$line in world is told, with what to do', async ({ line, code, reason, remedy }) => {
  await setWorld(...WORLD, line);

  expect(await store.run('install', { package: 'plain' })).toMatchObject({
    state: 'failed',
    error: `cannot install plain: ${reason}`,
    error_code: code,
    remedy,
  });
  expect(await store.packages()).toEqual({});
});
