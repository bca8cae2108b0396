import { appendFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import { openApkStore, sendFile, type ApkStore } from './open-store.ts';

let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore({
    packages: [
      {
        name: 'background',
        version: '1.0-r1',
        files: { '/usr/bin/background': 'x\n' },
        scripts: { 'post-install': '#!/bin/sh\nsleep 60 &\n' },
      },
    ],
  });
});
afterAll(() => store.close());

const DISTFEEDS = 'etc/apk/repositories.d/distfeeds.list';

afterEach(async () => {
  store.device.publish(1);
  const feeds = (await store.device.read(DISTFEEDS)) ?? '';
  await writeFile(join(store.device.root, DISTFEEDS), `${feeds.split('\n')[0] ?? ''}\n`);
  await store.device.apk('update');
  await store.clear();
});

test('install brings an app and what it needs, and tells when', async () => {
  const { state, command, log } = await store.run('install', { package: 'demo' });

  expect([state, command]).toEqual(['done', 'apk add app-meta-demo']);
  expect(log).toContain('Installing demo-app (1.0-r1)');
  expect(Object.keys(await store.packages())).toEqual(['app-meta-demo', 'demo-app', 'libdemo']);
  const list = await stat(join(store.device.root, 'lib/apk/packages/app-meta-demo.list'));
  expect(await store.installed()).toEqual([
    expect.objectContaining({ name: 'demo', title: 'Demo', time: Math.floor(list.ctimeMs / 1000) }),
  ]);
  const cache = await readdir(join(store.device.root, 'var/cache/apk'));
  expect(cache.filter((name) => name.endsWith('.apk'))).toEqual([]);
});

test('remove takes an app and what came with it', async () => {
  await store.device.apk('add', 'app-meta-demo');

  expect((await store.run('remove', { package: 'demo' })).state).toBe('done');
  expect(await store.installed()).toEqual([]);
});

test('upgrade takes an app and the packages that it names, and nothing if it is current', async () => {
  await store.device.apk('add', 'app-meta-demo');
  store.device.publish(2);
  await store.run('update');

  expect((await store.run('upgrade', { package: 'demo' })).state).toBe('done');
  const versions = await store.packages();
  expect(versions).toMatchObject({ 'app-meta-demo': '1.1-r1', 'demo-app': '1.1-r1' });
  const { state, log } = await store.run('upgrade', { package: 'demo' });
  expect([state, log]).toEqual(['done', expect.stringContaining('nothing to do')]);
  expect(await store.packages()).toEqual(versions);
});

test('what world holds at a version is not upgraded, and the job says what lets it go', async () => {
  await store.device.apk('add', 'libdemo=1.0-r1');
  store.device.publish(2);
  await store.run('update');

  const { state, error } = await store.run('upgrade', { package: 'libdemo' });
  expect([state, error]).toEqual(['failed', expect.stringContaining('holds it at 1.0-r1')]);
  await store.run('install', { package: 'libdemo' });
  expect((await store.run('upgrade', { package: 'libdemo' })).state).toBe('done');
  expect(await store.packages()).toEqual({ libdemo: '1.0-r2' });
});

test('update says which feed failed, and upgrades go on from the others', async () => {
  await store.device.apk('add', 'app-meta-demo');
  store.device.publish(2);
  await appendFile(
    join(store.device.root, DISTFEEDS),
    'http://127.0.0.1:9/packages.adb\nsrc/gz x y\n',
  );

  const { state, error } = await store.run('update');

  expect(state).toBe('failed');
  expect(error).toContain('127.0.0.1-9 (http://127.0.0.1:9/packages.adb): the server cannot');
  expect(error).toContain('distfeeds.list:3 (src/gz x y): "src/gz" is no feed');
  expect((await store.run('upgrade', { package: 'demo' })).state).toBe('done');
});

test('a line that is no feed is named in /healthz, and keeps nobody from anything', async () => {
  await appendFile(join(store.device.root, DISTFEEDS), 'src/gz x y\n');

  const health = await fetch(`${store.daemon.url}/healthz`);

  expect([health.status, await health.json()]).toEqual([
    200,
    expect.objectContaining({ unreadable_feeds: ['distfeeds.list:2: "src/gz" is no feed'] }),
  ]);
  expect((await store.run('install', { package: 'demo' })).state).toBe('done');
});

test.each([
  ['the path and whether to start', { path: '/mnt/sda1', enable: '0' }, true],
  ['nothing more', {}, false],
])('autoconf with %s tells the app’s script, and so does install', async (_, params, hasMore) => {
  const installed = await store.run('install', { package: 'demo', autoconf: '1', ...params });
  const configured = await store.run('autoconf', { package: 'demo', ...params });

  for (const { state, log } of [installed, configured]) {
    expect([state, log]).toEqual(['done', expect.stringContaining('autoconf demo args=[]')]);
    expect(log.includes('ISTORE_CONF_DIR=/mnt/sda1/Configs')).toBe(hasMore);
    expect(log.includes('ISTORE_DONT_START=1')).toBe(hasMore);
  }
});

test('an app whose configuration fails is there all the same', async () => {
  await store.device.apk('add', 'app-meta-demo');
  await writeFile(join(store.device.root, 'usr/libexec/istorea/demo.sh'), 'exit 3\n');

  expect(await store.run('autoconf', { package: 'demo' })).toMatchObject({ state: 'failed' });
  expect(Object.keys(await store.packages())).toContain('app-meta-demo');
});

test('a process that a script leaves in the background does not hold the job up', async () => {
  const { state, log } = await store.run('install', { package: 'background' });

  expect([state, log]).toEqual(['done', expect.stringMatching(/sleep .* keeps apk waiting/)]);
});

test('the daemon’s own upgrade is told by the feeds', async () => {
  const answer = await store.daemon.get('admin/store/check_self_upgrade');
  expect([answer.status, await answer.text()]).toEqual([
    200,
    expect.stringContaining('depotd is not installed as a package'),
  ]);
});

describe('an uploaded package', () => {
  const fileOf = (version: string, more: { depends?: string[] } = {}): Buffer =>
    createApk({ name: 'sent', version, files: { '/usr/bin/sent': version }, ...more }).bytes;

  test('brings what it needs from the feeds, and undo takes both', async () => {
    const { id, state } = await store.upload(fileOf('1.0-r1', { depends: ['libdemo'] }));

    expect([state, await store.packages()]).toEqual([
      'done',
      { libdemo: '1.0-r1', sent: '1.0-r1' },
    ]);
    expect((await store.run('unrun', { id })).state).toBe('done');
    expect(await store.packages()).toEqual({});
  });

  test('that replaced another brings that back when it is undone, bound to a file as it was', async () => {
    const isBound = async (): Promise<boolean> =>
      (await store.device.world()).some((line) => line.startsWith('sent><'));
    await store.upload(fileOf('1.0-r1'));
    expect(await isBound()).toBe(true);
    const { id } = await store.upload(fileOf('2.0-r1'));

    expect((await store.run('unrun', { id })).state).toBe('done');
    expect(await store.packages()).toEqual({ sent: '1.0-r1' });
    expect(await isBound()).toBe(true);
  });

  test.each([
    ['a page', Buffer.from('<html>log in</html>'), 'begins neither as a package'],
    ['nothing', Buffer.alloc(0), 'begins neither as a package'],
    ['half of one', fileOf('1.0-r1').subarray(0, 300), 'unexpected end of file'],
    ['one without its end', fileOf('1.0-r1').subarray(0, -40), 'unexpected end of file'],
  ])('that is %s is refused', async (_, bytes, reason) => {
    const answer = await sendFile(store.daemon, bytes);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({
        stderr: expect.stringContaining(reason) as string,
        error_code: 'damaged_package',
        remedy: 'Download it again, or get it from another source.',
      }),
    ]);
  });

  test('that needs what no feed has changes nothing', async () => {
    expect(await store.upload(fileOf('1.0-r1', { depends: ['nothere'] }))).toMatchObject({
      state: 'failed',
      error: 'cannot install sent: it needs nothere, which no feed offers',
      error_code: 'dependency_missing',
    });
  });
});
