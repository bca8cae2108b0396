import { afterEach, expect, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import { oneProgram as one, openApkStore, type ApkStore } from './open-store.ts';

let store: ApkStore;
afterEach(() => store.close());

const shared = { '/usr/share/shared': 'of both\n' };

test('a file that two packages of one origin have keeps no other from being upgraded', async () => {
  const twins = (version: string) =>
    ['left', 'right'].map((name) => one(name, version, { origin: 'twins', files: shared }));
  store = await openApkStore({ packages: [...twins('1.0-r1'), one('plain', '1.0-r1')] });
  await store.device.apk('add', 'left', 'right', 'plain');
  store.device.publishPackages([...twins('2.0-r1'), one('plain', '2.0-r1')]);
  await store.device.apk('update');

  const { state, error } = await store.run('upgrade', { all: 'true' });

  expect([state, error]).toEqual(['done', undefined]);
  expect(await store.packages()).toEqual({ left: '2.0-r1', right: '2.0-r1', plain: '2.0-r1' });
});

test.each(['1.0-r1', '2.0-r1'])(
  'a file that moves from a library, %s afterwards, to its app is moved',
  async (libraryAfter) => {
    const options = { origin: 'suite' };
    store = await openApkStore({
      packages: [
        one('library', '1.0-r1', { ...options, files: shared }),
        one('user', '1.0-r1', { ...options, depends: ['library'] }),
      ],
    });
    await store.device.apk('add', 'user');
    store.device.publishPackages([
      one('library', libraryAfter, { ...options, files: libraryAfter === '1.0-r1' ? shared : {} }),
      one('user', '2.0-r1', { ...options, depends: ['library'], files: shared }),
    ]);
    await store.device.apk('update');

    const { state, error } = await store.run('upgrade', { all: 'true' });

    expect([state, error]).toEqual(['done', undefined]);
    expect(await store.packages()).toEqual({ library: libraryAfter, user: '2.0-r1' });
    expect(await store.device.read('usr/share/shared')).toBe('of both\n');
  },
);

test('what apk would take from busybox is refused, whatever the package says', async () => {
  store = await openApkStore({
    packages: [one('taker', '1.0-r1', { replaces: ['busybox'], files: { '/bin/busybox': 'x\n' } })],
  });

  const { state, error_code } = await store.run('install', { package: 'taker' });

  expect([state, error_code]).toEqual(['failed', 'file_conflict']);
  expect(await store.device.read('bin/busybox')).not.toBe('x\n');
});

test('a dependency is upgraded with all, and the log does not say that nothing is newer', async () => {
  const suite = (version: string) => [
    one('needed', version),
    one('needy', version, { depends: ['needed'] }),
  ];
  store = await openApkStore({ packages: suite('1.0-r1') });
  await store.run('install', { package: 'needy' });
  store.device.publishPackages([...suite('1.0-r1').slice(1), one('needed', '2.0-r1')]);
  await store.run('update');

  const { state, log } = await store.run('upgrade', { all: 'true' });

  expect([state, log]).toEqual(['done', expect.not.stringContaining('nothing to do')]);
  expect(await store.packages()).toEqual({ needed: '2.0-r1', needy: '1.0-r1' });
});

test.each(['../escaped', '../../etc/escaped'])(
  'a package file with the name %s in it is refused by that name',
  async (path) => {
    store = await openApkStore();
    const bytes = createApk(one('sent', '1.0-r1', { files: { [`/${path}`]: 'x\n' } })).bytes;

    await expect(store.upload(bytes)).rejects.toThrow(
      `it would unpack \\"${path}\\" outside of the root`,
    );
  },
);
