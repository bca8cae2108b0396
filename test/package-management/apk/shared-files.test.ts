import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { createApk } from '../../device/apk-device/apk.ts';
import { oneProgram as one, openApkStore, type ApkStore } from './open-store.ts';

let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore();
});
afterAll(() => store.close());
afterEach(() => store.clear());

async function offer(packages: readonly ApkFeedPackage[]): Promise<void> {
  store.device.publishPackages(packages);
  await store.device.apk('update');
}

const shared = { '/usr/share/shared': 'of both\n' };

test('a file that two packages of one origin have keeps no other from being upgraded', async () => {
  const twins = (version: string) =>
    ['left', 'right'].map((name) => one(name, version, { origin: 'twins', files: shared }));
  await offer([...twins('1.0-r1'), one('plain', '1.0-r1')]);
  await store.device.apk('add', 'left', 'right', 'plain');
  await offer([...twins('2.0-r1'), one('plain', '2.0-r1')]);

  const { state, error } = await store.run('upgrade', { all: 'true' });

  expect([state, error]).toEqual(['done', undefined]);
  expect(await store.packages()).toEqual({ left: '2.0-r1', right: '2.0-r1', plain: '2.0-r1' });
});

test.each(['1.0-r1', '2.0-r1'])(
  'a file that moves from a library, %s afterwards, to its app is moved',
  async (libraryAfter) => {
    const options = { origin: 'suite' };
    await offer([
      one('library', '1.0-r1', { ...options, files: shared }),
      one('user', '1.0-r1', { ...options, depends: ['library'] }),
    ]);
    await store.device.apk('add', 'user');
    await offer([
      one('library', libraryAfter, { ...options, files: libraryAfter === '1.0-r1' ? shared : {} }),
      one('user', '2.0-r1', { ...options, depends: ['library'], files: shared }),
    ]);

    const { state, error } = await store.run('upgrade', { all: 'true' });

    expect([state, error]).toEqual(['done', undefined]);
    expect(await store.packages()).toEqual({ library: libraryAfter, user: '2.0-r1' });
    expect(await store.device.read('usr/share/shared')).toBe('of both\n');
  },
);

test('a dependency is upgraded with all, and the log does not say that nothing is newer', async () => {
  const suite = (version: string) => [
    one('needed', version),
    one('needy', version, { depends: ['needed'] }),
  ];
  await offer(suite('1.0-r1'));
  await store.device.apk('add', 'needy');
  await offer([...suite('1.0-r1').slice(1), one('needed', '2.0-r1')]);

  const { state, log } = await store.run('upgrade', { all: 'true' });

  expect([state, log]).toEqual(['done', expect.not.stringContaining('nothing to do')]);
  expect(await store.packages()).toEqual({ needed: '2.0-r1', needy: '1.0-r1' });
});

test.each(['../escaped', '../../etc/escaped'])(
  'a package file with the name %s in it is refused by that name',
  async (path) => {
    const bytes = createApk(one('sent', '1.0-r1', { files: { [`/${path}`]: 'x\n' } })).bytes;

    await expect(store.upload(bytes)).rejects.toThrow(
      `it would unpack \\"${path}\\" outside of the root`,
    );
  },
);
