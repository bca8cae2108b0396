import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { processesOf } from './device-processes.ts';
import { oneProgram as one, openApkStore, WORLD, type ApkStore } from './open-store.ts';

/** What docs/reference/apk.md says goes wrong, row by row: the job's end, and what is left. */
const script = (body: string): string => `#!/bin/sh\n${body}\n`;

const FIRST: readonly ApkFeedPackage[] = [
  one('plain', '1.0-r1'),
  one('needed', '1.0-r1'),
  one('needy', '1.0-r1', { depends: ['needed'] }),
  one('settled', '1.0-r1', { files: { '/etc/settled': 'of the package\n' } }),
  one('badup', '1.0-r1'),
  one('libabi1.0', '1.0-r1', { provides: ['libabi'] }),
  one('abiuser', '1.0-r1', { depends: ['libabi1.0'] }),
  one('caller', '1.0-r1', { scripts: { 'post-install': script('apk add plain || exit 4') } }),
  one('badscript', '1.0-r1', { scripts: { 'post-install': script('exit 3') } }),
  one('fileless', '1.0-r1', {
    scripts: { 'post-install': script('rm -f "$IPKG_INSTROOT/usr/bin/fileless"') },
  }),
  one('slowscript', '1.0-r1', { scripts: { 'post-install': script('sleep 3') } }),
];

const SECOND: readonly ApkFeedPackage[] = [
  one('plain', '2.0-r1'),
  one('needed', '2.0-r1'),
  one('needy', '2.0-r1', { depends: ['needed>=2.0'] }),
  one('badup', '2.0-r1', { scripts: { 'post-upgrade': script('exit 7') } }),
  one('libabi1.1', '1.1-r1', { provides: ['libabi'] }),
  one('abiuser', '2.0-r1', { depends: ['libabi1.1'] }),
];

let store: ApkStore;
beforeAll(async () => {
  store = await openApkStore({ packages: FIRST });
});
afterAll(() => store.close());

let offered = FIRST;
async function offer(packages: readonly ApkFeedPackage[]): Promise<void> {
  if (packages === offered) return;
  offered = packages;
  store.device.publishPackages(packages);
  await store.device.apk('update');
}

const add = (...names: readonly string[]) => store.device.apk('add', ...names);

/** Whatever failed, the next job works, and nothing of the failed one is left. */
afterEach(async () => {
  store.device.feed.behave();
  await offer(FIRST);
  expect((await store.run('install', { package: 'plain' })).state).toBe('done');
  await store.clear();
  expect((await store.device.apk('audit', '--system')).stdout).toBe('');
  expect(await processesOf(store.device.root)).toEqual([]);
});

const DOWNLOAD_FAULTS = ['missing', 'cut', 'truncated', 'changed', 'html', 'closed'] as const;

describe('a download that fails changes nothing, and is named', () => {
  test.each(DOWNLOAD_FAULTS)('the package itself: %s', async (fault) => {
    store.device.feed.misbehave('needy-1.0-r1.apk', fault);

    const { state, error } = await store.run('install', { package: 'needy' });

    const named = /^cannot install needy: it could not be fetched/;
    expect([state, error]).toEqual(['failed', expect.stringMatching(named)]);
    expect([await store.packages(), await store.device.world()]).toEqual([{}, WORLD]);
  });

  test.each(DOWNLOAD_FAULTS)('what it needs: %s', async (fault) => {
    store.device.feed.misbehave('needed-1.0-r1.apk', fault);

    const { state, error } = await store.run('install', { package: 'needy' });

    expect([state, error]).toEqual([
      'failed',
      expect.stringMatching(/needed(-1\.0-r1)? could not be fetched/),
    ]);
    expect([await store.packages(), await store.device.world()]).toEqual([{}, WORLD]);
  });

  test('one of two in an upgrade', async () => {
    await add('needy');
    const before = [await store.packages(), await store.device.world()];
    await offer(SECOND);
    store.device.feed.misbehave('needed-2.0-r1.apk', 'missing');

    const { state, error } = await store.run('upgrade', { package: 'needy' });

    expect([state, error]).toEqual(['failed', expect.stringContaining('needed-2.0-r1 could not')]);
    expect([await store.packages(), await store.device.world()]).toEqual(before);
  });

  test('what an uploaded package needs', async () => {
    store.device.feed.misbehave('needed-1.0-r1.apk', 'changed');

    const { state, error } = await store.upload(
      createApk({ name: 'sent', version: '1.0-r1', depends: ['needed'] }).bytes,
    );

    expect([state, error]).toEqual([
      'failed',
      expect.stringMatching(/needed(-1\.0-r1)? could not be fetched/),
    ]);
    expect([await store.packages(), await store.device.world()]).toEqual([{}, WORLD]);
  });

  test('one that is stopped leaves no piece of a file', async () => {
    store.device.feed.misbehave('needy-1.0-r1.apk', 'stalled');
    const id = await store.daemon.submit('install', { package: 'needy' });
    await expect
      .poll(() => store.device.feed.requests('needy-1.0-r1.apk'), { timeout: 20_000 })
      .toBeGreaterThan(0);

    await store.daemon.post('admin/system/tasks/stop', { task_id: id });

    expect((await store.daemon.finished(id)).state).toBe('stopped');
    const names = await readdir(store.device.root, { recursive: true });
    expect(names.filter((name) => /\.apk(\.|$)/.test(name))).toEqual([]);
  });
});

describe('files in the way', () => {
  test('one that no package owns is overwritten', async () => {
    await mkdir(join(store.device.root, 'usr/bin'), { recursive: true });
    await writeFile(join(store.device.root, 'usr/bin/plain'), 'of nobody\n');

    expect((await store.run('install', { package: 'plain' })).state).toBe('done');
    expect(await store.device.read('usr/bin/plain')).toBe('plain 1.0-r1\n');
  });

  test('one below /etc stays its owner’s, and the new one lies beside it', async () => {
    await writeFile(join(store.device.root, 'etc/settled'), 'mine\n');

    expect((await store.run('install', { package: 'settled' })).state).toBe('done');
    expect([
      await store.device.read('etc/settled'),
      await store.device.read('etc/settled.apk-new'),
    ]).toEqual(['mine\n', 'of the package\n']);
    await rm(join(store.device.root, 'etc/settled'));
    await writeFile(join(store.device.root, 'etc/settled'), 'of the package\n');
  });
});

test('an apk that ends with an error has left a file out, and the job is not done', async () => {
  await add('badscript');
  expect((await store.run('install', { package: 'needed' })).state).toBe('done');

  const { state, error } = await store.run('install', { package: 'fileless' });

  expect([state, error]).toEqual([
    'failed',
    expect.stringContaining('it is on record, and /usr/bin/fileless of it is not there'),
  ]);
  expect(await store.packages()).not.toHaveProperty('fileless');
});

describe('an upgrade', () => {
  test('whose script fails is taken back: the old version is there, and nothing is broken', async () => {
    await add('badup');
    await offer(SECOND);

    const { state, error } = await store.run('upgrade', { package: 'badup' });

    expect([state, error]).toEqual([
      'failed',
      expect.stringContaining('its script that runs after its upgrade ended with exit code 7'),
    ]);
    expect(await store.packages()).toEqual({ badup: '1.0-r1' });
    expect(await store.device.read('usr/bin/badup')).toBe('badup 1.0-r1\n');
    expect((await store.device.world()).sort()).toEqual(['badup', ...WORLD].sort());
    const health = await (await fetch(`${store.daemon.url}/healthz`)).json();
    expect(health).not.toHaveProperty('broken_packages');
  });

  test('from a feed that became older does nothing', async () => {
    await offer(SECOND);
    await add('needed');
    await offer(FIRST);

    const { state, log } = await store.run('upgrade', { package: 'needed' });

    expect([state, log]).toEqual(['done', expect.stringContaining('nothing to do')]);
    expect(await store.packages()).toEqual({ needed: '2.0-r1' });
  });

  test('takes a library under its next name, and drops the one that nobody needs', async () => {
    await add('abiuser');
    await offer(SECOND);

    expect((await store.run('upgrade', { package: 'abiuser' })).state).toBe('done');
    expect(await store.packages()).toEqual({ abiuser: '2.0-r1', 'libabi1.1': '1.1-r1' });
  });

  test('keeps the library’s former name if its owner asked for it', async () => {
    await add('abiuser');
    await add('libabi1.0');
    await offer([...SECOND, ...FIRST.filter(({ name }) => name === 'libabi1.0')]);

    expect((await store.run('upgrade', { package: 'abiuser' })).state).toBe('done');
    expect(Object.keys(await store.packages())).toEqual(['abiuser', 'libabi1.0', 'libabi1.1']);
  });
});

describe('beside a feed that is dead', () => {
  const extra = (): string => join(store.device.root, 'etc/apk/repositories.d/customfeeds.list');
  const dead = (): string => `${store.device.feed.url}/dead/packages.adb`;
  beforeEach(async () => {
    await add('needy', 'badup');
    await writeFile(extra(), `${dead()}\n`);
  });
  afterEach(() => writeFile(extra(), '# add your custom package feeds here\n'));

  test('an update says which one, and that its server answers with an error', async () => {
    expect(await store.run('update')).toMatchObject({
      state: 'failed',
      error: expect.stringMatching(
        /update: dead \(\S+\): the server answers with an error/,
      ) as string,
    });
  });

  test('an upgrade of all takes what the others have newer, and nothing else', async () => {
    const newer = SECOND.filter(({ name }) => ['needed', 'needy', 'plain'].includes(name));
    await offer([...newer, ...FIRST.filter(({ name }) => name === 'badup')]);

    const { state, error } = await store.run('upgrade', { all: '1' });

    expect([state, error]).toEqual(['done', undefined]);
    expect(await store.packages()).toEqual({
      badup: '1.0-r1',
      needed: '2.0-r1',
      needy: '2.0-r1',
    });
  });
});

test('a script that calls apk is told that the lock is held, and its job taken back', async () => {
  const { state, error, log } = await store.run('install', { package: 'caller' });

  expect([state, error]).toEqual([
    'failed',
    expect.stringContaining(
      'cannot install caller: its script that runs after its installation ended with exit code 4',
    ),
  ]);
  expect(log).toContain('Unable to lock database');
  expect(await store.packages()).toEqual({});
});

describe('while somebody else changes packages', () => {
  const untilItSleeps = async (): Promise<void> =>
    expect
      .poll(async () => (await processesOf(store.device.root, 'sleep')).length, { timeout: 10_000 })
      .toBeGreaterThan(0);

  test('a job waits, says for whom, and goes on', async () => {
    const other = store.device.startApk('add', 'slowscript');
    await untilItSleeps();

    const { state, log } = await store.run('install', { package: 'needed' });

    expect((await other.outcome).code).toBe(0);
    expect([state, log]).toEqual([
      'done',
      expect.stringMatching(/waiting: process \d+ holds \S+\/lib\/apk\/db\/lock/),
    ]);
    expect(Object.keys(await store.packages())).toEqual(['needed', 'slowscript']);
  });

  test('one that is stopped meanwhile has done nothing', async () => {
    const other = store.device.startApk('add', 'slowscript');
    await untilItSleeps();
    const id = await store.daemon.submit('install', { package: 'needed' });
    await expect.poll(() => store.daemon.logOf(id), { timeout: 10_000 }).toContain('waiting');

    await store.daemon.post('admin/system/tasks/stop', { task_id: id });

    expect((await store.daemon.finished(id)).state).toBe('stopped');
    expect((await other.outcome).code).toBe(0);
    expect(Object.keys(await store.packages())).toEqual(['slowscript']);
  });
});
