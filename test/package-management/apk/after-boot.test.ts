import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { INDEX_NAME } from '../../device/apk-device/apk-index.ts';
import { createApk } from '../../device/apk-device/apk.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { killProcesses } from './device-processes.ts';
import { openApkStore, type ApkStore } from './open-store.ts';

let store: ApkStore;
const open = async (): Promise<void> => {
  store = await openApkStore();
};
beforeAll(open);
afterAll(() => store.close());
afterEach(async () => {
  store.device.feed.behave();
  store.device.publish(1);
  await store.device.apk('update');
  await store.clear();
});

const cache = (): string => join(store.device.root, 'var/cache/apk');

/** What is in memory goes with a boot. */
async function loseLists(): Promise<void> {
  await rm(cache(), { recursive: true, force: true });
}

describe('right after a boot, when the lists of the feeds are gone', () => {
  test('an app is installed, and the log says that the lists were fetched for it', async () => {
    await loseLists();

    const { state, log } = await store.run('install', { package: 'demo' });

    expect([state, log]).toEqual(['done', expect.stringContaining('they are fetched first')]);
    expect(Object.keys(await store.packages())).toContain('app-meta-demo');
    const next = await store.run('install', { package: 'notes' });
    expect(next.log).not.toContain('they are fetched first');
  });

  test('an app is upgraded', async () => {
    await store.run('install', { package: 'demo' });
    store.device.publish(2);
    await loseLists();

    expect((await store.run('upgrade', { package: 'demo' })).state).toBe('done');
    expect(await store.packages()).toMatchObject({ 'demo-app': '1.1-r1' });
  });

  test.each(['html', 'missing'] as const)(
    'a list that comes as %s is told each time',
    async (fault) => {
      await loseLists();
      store.device.feed.misbehave(INDEX_NAME, fault);

      const first = await store.run('install', { package: 'demo' });
      const update = await store.run('update');
      const second = await store.run('install', { package: 'demo' });

      const reason = update.error?.replace('cannot update: ', '');
      for (const { error, error_code, remedy } of [first, second]) {
        expect([error_code, error, remedy]).toEqual([
          'no_lists',
          `cannot install demo: there are no package lists, and they cannot be fetched: ${reason}`,
          update.remedy,
        ]);
      }
    },
  );

  test('a package file brings what it needs, and asks no feed if it needs nothing', async () => {
    await loseLists();
    const alone = await store.upload(createApk({ name: 'alone', version: '1.0-r1' }).bytes);
    const needy = { name: 'needy', version: '1.0-r1', depends: ['libdemo'] };
    const { state, log } = await store.upload(createApk(needy).bytes);

    expect([alone.state, alone.log]).toEqual([
      'done',
      expect.not.stringContaining('fetched first'),
    ]);
    expect([state, log]).toEqual(['done', expect.stringContaining('they are fetched first')]);
    expect(Object.keys(await store.packages())).toEqual(['alone', 'libdemo', 'needy']);
  });
});

test('files that a power cut emptied behind an upgrade on record are put there once more', async () => {
  const { root } = store.device;
  await store.run('install', { package: 'demo' });
  const version = (number: string) => ({
    name: 'libdemo',
    version: number,
    files: { '/usr/lib/libdemo.so': `libdemo ${number}\n` },
    // The daemon goes before it hears how apk ended.
    scripts: { 'post-upgrade': '#!/bin/sh\nkill -9 "$(cat "$IPKG_INSTROOT/tmp/daemon")"\n' },
  });
  store.device.publishPackages([version('9.0-r1')]);
  await store.device.apk('update');
  await writeFile(join(root, 'tmp/daemon'), `${store.daemon.pid}`);
  const id = await store.daemon.submit('upgrade', { package: 'libdemo' });
  await expect
    .poll(async () => (await store.packages()).libdemo, { timeout: 20_000 })
    .toBe('9.0-r1');
  await killProcesses(root);
  await writeFile(join(root, 'usr/lib/libdemo.so'), '');
  await writeFile(join(root, 'tmp/daemon'), '0');
  await asOfAnotherBoot(join(root, 'etc/depotd/jobs.jsonl'));

  await store.daemon.restart();

  expect((await store.daemon.finished(id)).state).toBe('done');
  expect(await store.device.read('usr/lib/libdemo.so')).toBe('libdemo 9.0-r1\n');
  expect((await store.device.apk('audit', '--system')).stdout).toBe('');
});

test('records that a power cut left as zeros are put back, and what was installed goes again', async () => {
  const { root } = store.device;
  await store.run('install', { package: 'demo' });
  await store.recordsCopied();
  const before = await store.packages();
  store.device.publishPackages([
    {
      name: 'late',
      version: '1.0-r1',
      files: { '/usr/bin/late': 'late\n', '/etc/config/late': 'config late\n' },
      scripts: {
        'post-install':
          '#!/bin/sh\ncd "$IPKG_INSTROOT/tmp"\n[ ! -e daemon ] || kill -9 "$(cat daemon)"\n',
      },
    },
  ]);
  await store.device.apk('update');
  await writeFile(join(root, 'tmp/daemon'), `${store.daemon.pid}`);
  const id = await store.daemon.submit('install', { package: 'late' });
  await expect.poll(async () => (await store.packages()).late, { timeout: 20_000 }).toBe('1.0-r1');
  await killProcesses(root);
  for (const file of ['etc/apk/world', 'lib/apk/db/installed', 'lib/apk/db/scripts.tar.gz']) {
    await writeFile(join(root, file), Buffer.alloc((await stat(join(root, file))).size));
  }
  await writeFile(join(root, 'etc/config/late'), '');
  await rm(join(root, 'tmp/daemon'));
  await asOfAnotherBoot(join(root, 'etc/depotd/jobs.jsonl'));

  await store.daemon.restart();

  expect((await store.daemon.finished(id)).state).toBe('interrupted');
  expect(await store.daemon.logOf(id)).toContain('the records from before the job are put back');
  expect(await store.packages()).toEqual(before);
  await expect(stat(join(root, 'usr/bin/late'))).rejects.toThrow('ENOENT');
  expect((await store.run('install', { package: 'late' })).state).toBe('done');
  expect(await store.device.read('etc/config/late')).toBe('config late\n');
});

describe('right after a boot without a network', () => {
  // A feed that was closed cannot be opened again.
  afterEach(async () => {
    await store.close();
    await open();
  });

  test('an app is removed without asking any feed', async () => {
    await store.run('install', { package: 'demo' });
    await loseLists();
    await store.device.feed.close();

    const { state, log } = await store.run('remove', { package: 'demo' });

    expect([state, log]).toEqual(['done', expect.not.stringContaining('fetched first')]);
    expect(await store.packages()).toEqual({});
  });

  test('the job says that the lists are not there, and nothing changes', async () => {
    await loseLists();
    await store.device.feed.close();

    const { state, error, error_code } = await store.run('install', { package: 'demo' });

    expect([state, error_code, error]).toEqual([
      'failed',
      'no_lists',
      expect.stringMatching(
        /^cannot install demo: there are no package lists, and they cannot be fetched: .*the server cannot be reached/,
      ),
    ]);
    expect([await store.packages(), await readdir(cache())]).toEqual([{}, []]);
  });
});
