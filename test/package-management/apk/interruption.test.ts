import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { apkFeedPackages } from '../../device/apk-device/apk-device.ts';
import { createApkFeedFiles } from '../../device/apk-device/apk-index.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { expectAgreement } from './agreement.ts';
import { killProcesses } from './device-processes.ts';
import { openApkStore, type ApkStore } from './open-store.ts';

/** The scripts of the second one wait for the file `go`, so that somebody can break in. */
function packagesOf(version: string): ApkFeedPackage[] {
  const slow = (name: string): string => `#!/bin/sh
echo "${name}: script begins"
tries=0
while [ ! -e "$IPKG_INSTROOT/tmp/go" ] && [ $((tries += 1)) -lt 2400 ]; do sleep 0.05; done
`;
  const one = (name: string, depends: readonly string[]): ApkFeedPackage => ({
    name,
    version,
    depends,
    files: {
      [`/usr/bin/${name}`]: `${name} ${version}\n`,
      [`/usr/share/${name}/data`]: version,
      [`/etc/init.d/${name}`]: '#!/bin/sh\n',
    },
  });
  return [
    one('early', []),
    one('theirs', []),
    {
      ...one('late', ['early']),
      scripts: {
        'post-install': slow('late'),
        'post-upgrade': slow('late'),
        'pre-deinstall': slow('late'),
      },
    },
  ];
}

let store: ApkStore;
const open = async (): Promise<void> => {
  store = await openApkStore({ packages: packagesOf('1.0-r1') });
};
beforeAll(open);
afterAll(() => store.close());
beforeEach(goOn);
afterEach(async () => {
  if (isFeedClosed) {
    await store.close();
    await open();
    isFeedClosed = false;
    return;
  }
  await publish('1.0-r1');
  await store.clear();
});

/** It cannot be opened again. */
let isFeedClosed = false;
async function closeFeed(): Promise<void> {
  isFeedClosed = true;
  await store.device.feed.close();
}

const goFile = (): string => join(store.device.root, 'tmp/go');

async function goOn(): Promise<void> {
  await writeFile(goFile(), '');
}

/** Starts an operation, and resolves when its script runs, which ends when it may go on. */
async function startSlowly(operation: string): Promise<string> {
  await rm(goFile());
  const id = await store.daemon.submit(operation, { package: 'late' });
  await expect
    .poll(() => store.daemon.logOf(id), { timeout: 20_000 })
    .toContain('late: script begins');
  return id;
}

async function publish(version: string): Promise<void> {
  store.device.feed.publishFiles(createApkFeedFiles(apkFeedPackages(1, packagesOf(version))));
  await store.device.apk('update');
}

async function killApk(): Promise<void> {
  await killProcesses(store.device.root, 'apk');
}

/** The first of a package's files that apk removes. */
const settings = (): string => join(store.device.root, 'etc/init.d/late');

test('a removal that is cut off behind its first file, one below /etc, is finished', async () => {
  await store.device.apk('add', 'late');
  const id = await startSlowly('remove');
  await killApk();
  await rm(settings());
  await goOn();

  expect((await store.daemon.finished(id)).state).toBe('failed');
  await expectAgreement(store);
});

test('a removal that is stopped leaves the package, also if its owner had removed a file below /etc', async () => {
  await store.device.apk('add', 'late');
  await rm(settings());
  const id = await startSlowly('remove');
  await killApk();
  await goOn();

  expect((await store.daemon.finished(id)).state).toBe('failed');
  expect(await store.packages()).toEqual({ early: '1.0-r1', late: '1.0-r1' });
});

describe.each(['install', 'upgrade', 'remove'])('%s', (operation) => {
  beforeEach(async () => {
    if (operation === 'install') return;
    await store.device.apk('add', 'late');
    if (operation === 'upgrade') await publish('2.0-r1');
  });

  test('that is stopped leaves record and disk in agreement', async () => {
    const id = await startSlowly(operation);
    await store.daemon.post('admin/system/tasks/stop', { task_id: id });
    await goOn();

    expect((await store.daemon.finished(id)).state).toBe('stopped');
    await expectAgreement(store);
  });

  test('whose apk is killed leaves record and disk in agreement', async () => {
    const id = await startSlowly(operation);
    await killApk();
    await goOn();

    expect(['failed', 'done']).toContain((await store.daemon.finished(id)).state);
    await expectAgreement(store);
    if (operation === 'install') expect(await store.packages()).toEqual({});
  });

  test('goes on while its daemon is killed, and the next one tells of it', async () => {
    const id = await startSlowly(operation);
    await store.daemon.kill('SIGKILL');
    await store.daemon.restart();
    await goOn();

    expect((await store.daemon.finished(id)).state).toBe('done');
    await expectAgreement(store);
  });

  test.each([true, false])(
    'that a power cut ends is put right after the boot; the network is there: %s',
    async (hasNetwork) => {
      const id = await startSlowly(operation);
      const before = await store.packages();
      await store.daemon.kill('SIGKILL');
      await killProcesses(store.device.root);
      // What is in memory is gone with it.
      await rm(join(store.device.root, 'var/cache/apk'), { recursive: true });
      if (!hasNetwork) await closeFeed();
      await goOn();
      await asOfAnotherBoot(join(store.device.root, 'etc/depotd/jobs.jsonl'));
      await store.daemon.restart();

      expect(['interrupted', 'done']).toContain((await store.daemon.finished(id)).state);
      await expectAgreement(store);
      if (operation === 'install') expect(await store.packages()).toEqual(before);
    },
  );
});

test('what others install after a power cut, ahead of the daemon, stays when the install is taken back', async () => {
  const id = await startSlowly('install');
  await store.daemon.kill('SIGKILL');
  await killProcesses(store.device.root);
  await goOn();
  await asOfAnotherBoot(join(store.device.root, 'etc/depotd/jobs.jsonl'));
  await store.device.apk('add', 'theirs');

  await store.daemon.restart();

  expect((await store.daemon.finished(id)).state).toBe('interrupted');
  expect(await store.packages()).toEqual({ theirs: '1.0-r1' });
});

test('an earlier version could go on with a task: its record says all that they ask for', async () => {
  const id = await startSlowly('install');
  const journal = await readFile(join(store.device.root, 'etc/depotd/jobs.jsonl'), 'utf8');
  await goOn();
  await store.daemon.finished(id);

  const record = journal.split('\n').findLast((line) => line.includes(`"id":"${id}"`)) ?? '';
  const { memory } = JSON.parse(record) as { memory: { transaction: { plan: unknown } } };
  const changes = ['early', 'late'].map((name) => expect.objectContaining({ name }) as unknown);
  expect(memory.transaction.plan).toMatchObject({
    changes,
    downloads: changes,
    purpose: 'install late',
  });
});

test('a task whose daemon is killed when the copies that nobody needs go can be undone', async () => {
  const id = await startSlowly('install');
  const copies = join(store.device.root, 'tmp/depotd/undo', id, 'before.json');
  expect(existsSync(copies)).toBe(true);
  await goOn();
  // Whoever waited for it would come too late.
  while (existsSync(copies));
  await store.daemon.kill('SIGKILL');

  await store.daemon.restart();

  const ended = await store.daemon.finished(id);
  expect(ended).toMatchObject({ state: 'done', packages: ['early', 'late'], can_undo: true });
});
