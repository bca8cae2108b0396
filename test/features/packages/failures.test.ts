import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';

import { startLockHolder } from '../../device/lock-holder.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import { halfInstalled, openStore, type Store } from './open-store.ts';

let store: Store;

beforeAll(async () => {
  store = await openStore();
});

afterEach(() => store.device.feed.behave());
afterAll(() => store.close());

const STATUS_FILE = 'usr/lib/opkg/status';

test('install fails where a package that came with it cannot be configured, and takes back both', async () => {
  const before = await store.packages();

  const { state, error, log } = await store.run('install', { package: 'needbadpost' });

  expect({ state, error }).toEqual({
    state: 'failed',
    error:
      'cannot install needbadpost: the script of badpost that runs after its installation ended with exit code 3: ' +
      '"badpost: cannot do it"',
  });
  expect(log).toContain('opkg_configure: badpost.postinst returned 3.');
  expect(log.match(/[^\r]\n/)).toBeNull();
  expect(await store.packages()).toEqual(before);
  expect(await halfInstalled(store.device)).toEqual([]);
});

test('one failed install does not spoil the next', async () => {
  await store.run('install', { package: 'badpost' });

  expect(await store.run('install', { package: 'virt' })).toMatchObject({
    state: 'done',
    exit_code: 0,
  });
});

test('what came with an app whose install failed goes with it', async () => {
  store.device.feed.misbehave('demo-app_1.0-1_all.ipk', 'missing');
  const before = await store.packages();

  expect(await store.run('install', { package: 'demo' })).toMatchObject({ state: 'failed' });

  expect(await store.packages()).toEqual(before);
});

test('while somebody else runs opkg a job waits, says so in its log, and then runs', async () => {
  const holder = await startLockHolder(store.device);
  const task = await store.daemon.submit('install', { package: 'needvirt' });
  await expect
    .poll(() => store.daemon.logOf(task), { timeout: 10_000 })
    .toContain(
      `depotd: waiting: process ${holder.pid} holds ${store.device.root}/var/lock/opkg.lock`,
    );
  expect(await store.daemon.status(task)).toMatchObject({
    running: true,
    state: 'running',
    progress: { label: 'prepare' },
  });
  expect((await store.daemon.get('admin/store/installed')).status).toBe(200);

  await holder.release();

  expect(await store.daemon.finished(task)).toMatchObject({ state: 'done' });
});

test('a job that waits for somebody else can be stopped at once', async () => {
  const holder = await startLockHolder(store.device);
  const task = await store.daemon.submit('install', { package: 'tiny-01' });
  await expect
    .poll(() => store.daemon.logOf(task), { timeout: 10_000 })
    .toContain('depotd: waiting');

  await store.daemon.post('admin/system/tasks/stop', { task_id: task });

  expect(await store.daemon.finished(task, 5000)).toMatchObject({
    state: 'stopped',
    exit_code: 143,
  });
  await holder.release();
  expect(await store.statusOf('tiny-01')).toEqual({ installed: false });
});

test('a status file that was damaged while nobody looked is put back before opkg runs', async () => {
  await store.run('install', { package: 'virt' });
  const good = (await store.device.read(STATUS_FILE)) ?? '';
  await store.run('install', { package: 'tiny-03' });
  await writeFile(join(store.device.root, STATUS_FILE), good.slice(0, good.length / 2));

  const { state, log } = await store.run('install', { package: 'tiny-02' });

  expect(state).toBe('done');
  expect(log).toContain(
    'depotd: the status file of opkg is damaged; the copy from before the last job is put back',
  );
  expect(await store.packages()).toMatchObject({ virt: '1.0-1', 'tiny-02': '1.0-1' });
});

test('the deprecated log tells of the newest package job, while it runs and after it', async () => {
  const holder = await startLockHolder(store.device);
  const task = await store.daemon.submit('install', { package: 'badpost' });
  const oldLog = async (): Promise<Record<string, unknown>> =>
    (await (await store.daemon.get('admin/store/log')).json()) as Record<string, unknown>;
  expect(await oldLog()).toMatchObject({ code: 206, stderr: '', task_id: task });

  await holder.release();
  const { exit_code: code, error } = await store.daemon.finished(task);

  expect(await oldLog()).toEqual({
    code,
    stdout: await store.daemon.logOf(task),
    stderr: error,
    task_id: task,
  });
  for (const name of ['istore', 'latest']) {
    expect(await store.daemon.logOf(name)).toBe(await store.daemon.logOf(task));
  }
});

test('an install that is whole is done, though the copy of the database cannot be kept afterwards', async () => {
  const copy = 'etc/depotd/opkg-status.before.gz';
  const script = `rm -f "$IPKG_INSTROOT/${copy}"; mkdir -p "$IPKG_INSTROOT/${copy}/in-the-way"`;
  const own = await openStore({
    packages: [simplePackage('inway', { scripts: { postinst: `#!/bin/sh\n${script}\n` } })],
  });
  onTestFinished(own.close);

  expect(await own.run('install', { package: 'inway' })).toMatchObject({
    state: 'done',
    exit_code: 0,
  });
  expect(await own.packages()).toEqual({ inway: '1.0-1' });
});
