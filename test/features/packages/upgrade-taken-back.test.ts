import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, expect, test } from 'vitest';

import type { FeedPackage } from '../../device/feed-index.ts';
import { createIpk } from '../../device/ipk.ts';
import { lockHolderOf } from '../../../src/device/lock-holder.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { uploadFile } from '../undo/undo-tasks.ts';
import { halfInstalled, openStore, type Store } from './open-store.ts';

/** The feed has a version whose script does not end well; the device the one before it. */
const versionOf = (version: string, postinst: string): FeedPackage => ({
  name: 'steady',
  version,
  architecture: 'all',
  files: { '/usr/bin/steady': `steady ${version}\n`, '/etc/steady': 'of the package\n' },
  conffiles: ['/etc/steady'],
  scripts: { postinst: `#!/bin/sh\n${postinst}\n` },
});

let store: Store;
const open = async (postinst: string, former = 'exit 0'): Promise<void> => {
  store = await openStore({ packages: [versionOf('2.0-1', postinst)] });
  const file = join(store.device.root, 'tmp/steady.ipk');
  await writeFile(file, createIpk(versionOf('1.0-1', former)).bytes);
  await store.device.opkg('install', file);
  await rm(file);
  await writeFile(join(store.device.root, 'etc/steady'), 'of its owner\n');
};
const whatIsThere = async (): Promise<unknown[]> => [
  (await store.packages()).steady,
  await store.device.read('usr/bin/steady'),
  await store.device.read('etc/steady'),
  await halfInstalled(store.device),
];
const OLD = ['1.0-1', 'steady 1.0-1\n', 'of its owner\n', []];

afterEach(() => store.close());

test('an upgrade whose script fails is taken back, with the settings of its owner', async () => {
  await open('exit 7');

  const ended = await store.run('upgrade', { package: 'steady' });

  expect([ended.state, ended.packages]).toEqual(['failed', undefined]);
  expect(await whatIsThere()).toEqual(OLD);
  expect(await store.daemon.logOf(ended.id)).toContain('steady is as it was before');
});

test.each(['install', 'upload'])(
  'a failed %s over an older version is taken back, as an upgrade is',
  async (operation) => {
    await open('exit 7');
    const { daemon } = store;
    const id =
      operation === 'upload'
        ? await uploadFile(daemon, createIpk(versionOf('2.0-1', 'exit 7')).bytes, 'steady.ipk')
        : await daemon.submit('install', { package: 'steady' });

    const ended = await daemon.finished(id);

    expect([ended.state, ended.packages]).toEqual(['failed', undefined]);
    expect(await whatIsThere()).toEqual(OLD);
    expect(await daemon.logOf(id)).toContain('steady is as it was before');
  },
);

test('a failed installation puts back what it upgraded, and what it came in the place of', async () => {
  await open('exit 0');
  const part = (name: string, fields: Record<string, string>, script = 'exit 0'): FeedPackage => ({
    ...{ name, version: '1.0-1', architecture: 'all', fields },
    scripts: { postinst: `#!/bin/sh\n${script}\n` },
  });
  const replaces = { Conflicts: 'former', Replaces: 'former', Provides: 'former' };
  const needs = { Depends: 'steady (>= 2.0-1), latter' };
  store.device.feed.publish([
    versionOf('2.0-1', 'exit 0'),
    part('former', {}),
    part('latter', replaces),
    part('app', needs, 'exit 7'),
  ]);
  await store.run('update');
  await store.run('install', { package: 'former' });
  const before = [await store.packages(), await whatIsThere()];

  const ended = await store.run('install', { package: 'app' });

  expect([ended.state, ended.error_code]).toEqual(['failed', 'script_failed']);
  expect([await store.packages(), await whatIsThere()]).toEqual(before);
});

test('an upgrade of all leaves what went well, and takes back what did not', async () => {
  await open('exit 7');
  await store.run('install', { package: 'demo-app' });
  store.device.publish(2);
  await store.device.opkg('update');

  expect((await store.run('upgrade', { all: 'true' })).state).toBe('failed');

  expect(await whatIsThere()).toEqual(OLD);
  expect((await store.packages())['demo-app']).toBe('1.1-1');
});

test('an upgrade that is stopped is taken back', async () => {
  await open('sleep 20');
  const task = await store.daemon.submit('upgrade', { package: 'steady' });
  await expect.poll(() => store.daemon.logOf(task)).toContain('Configuring steady');

  await store.daemon.post('admin/system/tasks/stop', { task_id: task });

  expect((await store.daemon.finished(task)).state).toBe('stopped');
  expect(await whatIsThere()).toEqual(OLD);
});

const SLOW = '[ ! -e "$IPKG_INSTROOT/tmp/slow" ] || { echo "$1 waits"; sleep 20; }';
const at = (path: string): string => join(store.device.root, path);
/** Kills all that runs; what lay in memory is gone. */
const cutPower = async (): Promise<void> => {
  await store.daemon.kill('SIGKILL');
  process.kill((await lockHolderOf(at('var/lock/opkg.lock'), 'POSIX')) ?? Number.NaN, 'SIGKILL');
  await rm(at('tmp'), { recursive: true });
  await asOfAnotherBoot(at('etc/depotd/jobs.jsonl'));
  await mkdir(at('tmp'));
};

test('an installation over an older version whose script a power cut ended is not done, and can be done again', async () => {
  await open(SLOW);
  await writeFile(at('tmp/slow'), '');
  const task = await store.daemon.submit('install', { package: 'steady' });
  await expect.poll(() => store.daemon.logOf(task)).toContain('configure waits');

  await cutPower();
  await store.daemon.restart();

  expect((await store.daemon.finished(task)).state).toBe('interrupted');
  expect((await store.run('install', { package: 'steady' })).state).toBe('done');
  expect(await whatIsThere()).toEqual(['2.0-1', 'steady 2.0-1\n', 'of its owner\n', []]);
});

test('a power cut while an upgrade is taken back: what it emptied is installed again', async () => {
  await open(SLOW, SLOW);
  await writeFile(at('tmp/slow'), '');
  const task = await store.daemon.submit('upgrade', { package: 'steady' });
  await expect.poll(() => store.daemon.logOf(task)).toContain('configure waits');
  await store.daemon.post('admin/system/tasks/stop', { task_id: task });
  await expect.poll(() => store.daemon.logOf(task)).toMatch(/to be put back[^]*configure waits/);

  await cutPower();
  await truncate(at('usr/bin/steady'));
  await store.daemon.restart();

  expect((await store.daemon.finished(task)).state).toBe('stopped');
  expect(await store.daemon.logOf(task)).toContain('the power cut damaged files of steady');
  expect(await whatIsThere()).toEqual(['2.0-1', 'steady 2.0-1\n', 'of its owner\n', []]);
});

test('an upgrade that goes well leaves no copy behind', async () => {
  await open('exit 0');
  expect((await store.run('upgrade', { package: 'steady' })).state).toBe('done');
  expect((await store.packages()).steady).toBe('2.0-1');
  expect(await store.device.read('tmp/depotd/kept/index.json')).toBeUndefined();
});
