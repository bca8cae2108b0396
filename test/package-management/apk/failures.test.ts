import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { openApkStore, WORLD, type ApkStore } from './open-store.ts';
import { putAnew } from './put-anew.ts';

const PACKAGES: readonly ApkFeedPackage[] = [
  { name: 'plain', version: '1.0-r1', files: { '/usr/share/plain/a': 'a\n' } },
  { name: 'so1', version: '1.0-r1', origin: 'same', files: { '/usr/bin/same': 'one\n' } },
  { name: 'so2', version: '1.0-r1', origin: 'same', files: { '/usr/bin/same': 'two\n' } },
  { name: 'needgone', version: '1.0-r1', depends: ['gone'] },
  { name: 'pa', version: '1.0-r1', provides: ['vv'], providerPriority: 10 },
  { name: 'pb', version: '1.0-r1', provides: ['vv'], providerPriority: 100 },
  { name: 'needvv', version: '1.0-r1', depends: ['vv'] },
  {
    ...{ name: 'longbad', version: '1.0-r1' },
    files: { '/usr/share/longbad': { content: randomBytes(100_000) } },
    scripts: { 'post-install': '#!/bin/sh\nexit 3\n' },
  },
];

let store: ApkStore;
/** What apk has on record at first. */
const RECORDS = ['etc/apk/world', 'lib/apk/db/installed', 'lib/apk/db/scripts.tar.gz'];

beforeAll(async () => {
  store = await openApkStore({ packages: PACKAGES });
});
afterAll(() => store.close());

/** Whatever failed, the next job works, and nothing of the failed one is left. */
afterEach(async () => {
  expect((await store.run('install', { package: 'plain' })).state).toBe('done');
  await store.clear();
  expect((await store.device.apk('audit', '--system')).stdout).toBe('');
});

test.each([
  [
    'badpost',
    'script_failed',
    'its script that runs after its installation ended with exit code 3: "badpost: cannot do it"',
  ],
  [
    'needbadpost',
    'script_failed',
    'the script of badpost-1.0-r1 that runs after its installation ended with exit code 3: "badpost: cannot do it"',
  ],
  [
    'badpre',
    'script_failed',
    'its script that runs before its installation ended with exit code 1: "badpre: preinst says no"',
  ],
  ['badsum', 'checksum', 'it is not what the index of the feed says'],
  ['gone', 'download_failed', 'the server does not have it, or answers with an error'],
  ['needgone', 'download_failed', 'gone-1.0-r1 could not be fetched: the server does not have it'],
])('%s is not installed, %s: %s', async (name, errorCode, reason) => {
  const { state, error, error_code: code, remedy } = await store.run('install', { package: name });

  expect([state, error]).toEqual(['failed', expect.stringContaining(reason)]);
  expect([code, remedy]).toEqual([errorCode, expect.stringMatching(/^[A-Z].*\.$/)]);
  expect([await store.packages(), await store.device.world()]).toEqual([{}, WORLD]);
});

describe('with another package there', () => {
  test.each([
    {
      there: 'demo',
      name: 'clash',
      errorCode: 'file_conflict',
      reason: 'it would replace /usr/bin/demo-app, which belongs to demo-app',
    },
    {
      there: 'so1',
      name: 'so2',
      errorCode: 'file_conflict',
      reason: 'it would take over /usr/bin/same, which belongs to so1',
    },
    {
      there: 'needvv',
      name: 'pa',
      errorCode: 'dependency_conflict',
      reason: 'it conflicts with pb, which would be removed',
    },
    {
      there: 'demo',
      name: 'conflictor',
      errorCode: 'dependency_conflict',
      reason: 'it and libdemo exclude each other',
    },
  ])('$there stays as it is if $name is asked for, $errorCode', async (row) => {
    const { there, name, errorCode, reason } = row;
    await store.device.apk('add', there === 'demo' ? 'app-meta-demo' : there);
    const before = [await store.packages(), await store.device.world()];

    const { state, error, error_code: code } = await store.run('install', { package: name });

    expect([state, error]).toEqual(['failed', expect.stringContaining(reason)]);
    expect(code).toBe(errorCode);
    expect([await store.packages(), await store.device.world()]).toEqual(before);
  });

  test('what others need is not removed, and stays in world as it was', async () => {
    await store.device.apk('add', 'libdemo', 'app-meta-demo');

    const { state, error, error_code: code } = await store.run('remove', { package: 'libdemo' });

    expect([state, error]).toEqual(['failed', 'cannot remove libdemo: app-meta-demo needs it']);
    expect(code).toBe('needed_by');
    expect(await store.device.world()).toContain('libdemo');
  });

  test('one that was broken before fails no other job, and is named in /healthz', async () => {
    await store.device.apk('add', 'badpost');

    expect((await store.run('install', { package: 'demo' })).state).toBe('done');
    const health = await fetch(`${store.daemon.url}/healthz`);
    expect([health.status, await health.json()]).toEqual([
      200,
      expect.objectContaining({ broken_packages: ['badpost'] }),
    ]);
    expect((await store.run('remove', { package: 'badpost' })).state).toBe('done');
  });
});

test.each(['libc', 'base-files', 'busybox'])('%s is never removed', async (name) => {
  expect(await store.run('remove', { package: name })).toMatchObject({
    state: 'failed',
    error: `cannot remove ${name}: the device does not start without it`,
    error_code: 'essential',
  });
});

test.each(['badprerm', 'badpostrm'])('%s is removed though its script fails', async (name) => {
  await store.device.apk('add', name);

  const { state, log } = await store.run('remove', { package: name });

  expect([state, log]).toEqual(['done', expect.stringMatching(/deinstall: exited with error/)]);
});

describe('records that are damaged', () => {
  const contents = new Map<string, Buffer>();
  beforeEach(async () => {
    await store.run('install', { package: 'demo' });
    for (const file of RECORDS) {
      contents.set(file, await readFile(join(store.device.root, file)));
    }
    await store.recordsCopied();
  });
  afterEach(async () => {
    for (const [file, content] of contents) {
      await writeFile(join(store.device.root, file), content);
    }
  });

  const half = (content: Buffer): Buffer => content.subarray(0, content.length / 2);
  test.each([
    { what: 'an empty world', file: 'etc/apk/world', damage: () => '', reason: 'it is empty' },
    {
      what: 'a world of zeros',
      file: 'etc/apk/world',
      damage: (content: Buffer) => Buffer.alloc(content.length),
      reason: 'is no dependency',
    },
    {
      what: 'garbage in world',
      file: 'etc/apk/world',
      damage: (content: Buffer) => `${content.toString()}<<<\n`,
      reason: 'is no dependency',
    },
    {
      what: 'a world without the base system',
      file: 'etc/apk/world',
      damage: () => 'app-meta-demo\n',
      reason: 'it leads to base-files, busybox no longer',
    },
    { what: 'half a record', file: 'lib/apk/db/installed', damage: half, reason: 'in the middle' },
    {
      what: 'a record that lost packages',
      file: 'lib/apk/db/installed',
      damage: (content: Buffer) => content.subarray(0, content.indexOf('\n\n') + 2),
      reason: 'it lost base-files, busybox, demo-app, libc, libdemo, whose files are there',
    },
    {
      what: 'an empty record',
      file: 'lib/apk/db/installed',
      damage: () => '',
      reason: 'it has no packages',
    },
    {
      what: 'garbage for scripts',
      file: 'lib/apk/db/scripts.tar.gz',
      damage: () => 'garbage',
      reason: 'incorrect header check',
    },
  ])('$what: 503 with the reason, nothing is run', async ({ file, damage, reason }) => {
    await putAnew(join(store.device.root, file), damage(contents.get(file) ?? Buffer.alloc(0)));
    const files = await readFile(join(store.device.root, 'lib/apk/db/installed'));

    for (const operation of ['install', 'remove', 'upgrade']) {
      const answer = await store.daemon.post(`admin/store/${operation}`, { package: 'plain' });
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining(reason)]);
    }
    expect(await readFile(join(store.device.root, 'lib/apk/db/installed'))).toEqual(files);
    expect((await fetch(`${store.daemon.url}/healthz`)).status).toBe(503);
  });

  test('a world that is damaged hides no app', async () => {
    await writeFile(join(store.device.root, 'etc/apk/world'), '');

    expect(await store.installed()).toEqual([expect.objectContaining({ name: 'demo' })]);
  });

  test('a world that lost an app has no job remove it', async () => {
    await writeFile(join(store.device.root, 'etc/apk/world'), WORLD.join('\n'));

    const { state, error } = await store.run('install', { package: 'plain' });
    expect([state, error]).toEqual(['failed', expect.stringContaining('remove app-meta-demo')]);
    // Nothing newer is offered: apk is not run.
    expect((await store.run('upgrade', { package: 'demo' })).state).toBe('done');
    expect(Object.keys(await store.packages())).toContain('demo-app');
  });

  test('a name in world that no feed has is told, and removed on request', async () => {
    await writeFile(
      join(store.device.root, 'etc/apk/world'),
      `${contents.get('etc/apk/world')?.toString() ?? ''}gone-pkg\n`,
    );

    expect(await store.run('install', { package: 'plain' })).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('asks for gone-pkg, which no feed has') as string,
    });
    expect((await store.run('remove', { package: 'gone-pkg' })).state).toBe('done');
    expect(await store.device.world()).not.toContain('gone-pkg');
  });
});

test('a folder in the way of a file fails the job, which leaves nothing', async () => {
  await mkdir(join(store.device.root, 'usr/share'), { recursive: true });
  await writeFile(join(store.device.root, 'usr/share/plain'), 'a file');

  const { state, error } = await store.run('install', { package: 'plain' });
  await rm(join(store.device.root, 'usr/share/plain'));

  expect([state, error]).toEqual(['failed', expect.stringContaining('plain-1.0-r1: failed')]);
  expect([await store.packages(), await store.device.world()]).toEqual([{}, WORLD]);
});

test('what others install while a task fetches its packages stays when that fails', async () => {
  store.device.feed.misbehave('longbad-1.0-r1.apk', 'slow');
  const id = await store.daemon.submit('install', { package: 'longbad' });
  const label = async (): Promise<string> => (await store.daemon.status(id)).progress.label;
  await expect.poll(label).toBe('keep the old versions');

  await store.device.apk('add', 'so1');

  expect(await label()).toBe('keep the old versions');
  store.device.feed.behave();
  expect((await store.daemon.finished(id)).error_code).toBe('script_failed');
  expect(await store.packages()).toEqual({ so1: '1.0-r1' });
});
