import { readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';

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

async function copied(): Promise<string> {
  const copy = join(device.root, 'etc/depotd/opkg-status.before.gz');
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
    await expect.poll(copied).toBe(await device.read('usr/lib/opkg/status'));
    const before = [...(await device.database()).keys()];
    await expect.poll(judgement, WITHIN_A_SECOND).toMatchObject({ state: 'ok' });

    await truncate(join(device.root, 'usr/lib/opkg/status'));

    await expect.poll(judgement, WITHIN_A_SECOND).toMatchObject({ state: 'error' });
    const task = await daemon.submit('install', { package: 'demo' });
    expect(await daemon.finished(task)).toMatchObject({ state: 'done' });
    expect([...(await device.database()).keys()]).toEqual(expect.arrayContaining(before));
  },
);
