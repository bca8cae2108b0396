import { chmod, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { COPY_NAMES } from '../../../src/package-management/opkg/database/status-backup.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';

let device: Device;
let daemon: TestDaemon;

beforeEach(async () => {
  device = await createDevice();
  await device.opkg('update');
  await device.opkg('install', 'notes-app');
  daemon = await startDaemon({ root: device.root, env: device.env });
});

afterEach(async () => {
  await daemon.close();
  await device.close();
});

const WITHIN_A_SECOND = { timeout: 1000, interval: 50 };

async function copied(name = 'opkg-status.before.gz'): Promise<string> {
  const copy = join(device.root, 'etc/depotd', name);
  return readFile(copy).then(
    (bytes) => gunzipSync(bytes).toString(),
    () => '',
  );
}

async function judgement(): Promise<unknown> {
  const answer = await daemon.get('admin/system/doctor');
  const { checks } = (await answer.json()) as { checks: { id: string }[] };
  return checks.find(({ id }) => id === 'package-database');
}

test.each(['at the start', 'after a change by others'])(
  'a record of opkg that is emptied is told and put back, as it was %s',
  async (moment) => {
    if (moment !== 'at the start') await device.opkg('install', 'libonce');
    await expect.poll(() => copied()).toBe(await device.read('usr/lib/opkg/status'));
    const before = [...(await device.database()).keys()];
    await expect.poll(judgement, WITHIN_A_SECOND).toMatchObject({ state: 'ok' });

    await truncate(join(device.root, 'usr/lib/opkg/status'));

    await expect.poll(judgement, WITHIN_A_SECOND).toMatchObject({ state: 'error' });
    const task = await daemon.submit('install', { package: 'demo' });
    expect(await daemon.finished(task)).toMatchObject({ state: 'done' });
    expect([...(await device.database()).keys()]).toEqual(expect.arrayContaining(before));
  },
);

test.each<[string[]]>([[[]], [['backup']]])(
  'what a failed task leaves is what comes back, with %j behind it',
  async (behind) => {
    await daemon.close();
    const scripts = { postinst: '#!/bin/sh\nexit 1\n' };
    device.feed.publish([simplePackage('whole'), simplePackage('faulty')]);
    await device.opkg('update');
    await device.opkg('install', 'whole', 'faulty');
    device.feed.publish([
      simplePackage('whole', { version: '2.0-1' }),
      { ...simplePackage('faulty', { version: '2.0-1' }), scripts },
    ]);
    await device.opkg('update');
    // Longer than it takes until somebody looks at a change for the last time.
    const folder = join(device.root, '../own-bin');
    await mkdir(folder);
    await writeFile(join(folder, 'sync'), '#!/bin/sh\nsleep 1\n');
    await chmod(join(folder, 'sync'), 0o755);
    const env = { ...device.env, PATH: [folder, device.path].join(delimiter) };
    daemon = await startDaemon({ root: device.root, env });

    const task = await daemon.submit('upgrade', { all: 'true' });
    const others = await Promise.all(behind.map((kind) => daemon.submit(kind)));

    expect(await daemon.finished(task)).toMatchObject({ state: 'failed' });
    for (const each of others) expect(await daemon.finished(each)).toMatchObject({ state: 'done' });
    const before = await device.database();
    expect(before.get('whole')?.version).toBe('2.0-1');
    const copies = (): Promise<string[]> => Promise.all(COPY_NAMES.map((name) => copied(name)));
    await expect.poll(copies).toContain(await device.read('usr/lib/opkg/status'));
    await truncate(join(device.root, 'usr/lib/opkg/status'));
    await daemon.finished(await daemon.submit('install', { package: 'notes-app' }));
    expect(await device.database()).toEqual(before);
  },
);
