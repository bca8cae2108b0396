import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { asOfAnotherBoot } from '../../support/power-cut.ts';

/** A device whose `sync` takes as long as the file `hold` is there, and says what it is called for. */
let device: Device;
let daemon: TestDaemon;
let hold: string;
let failing: string;
let calls: () => Promise<string>;

beforeEach(async () => {
  device = await createDevice();
  const folder = join(device.root, '../own-bin');
  const log = join(folder, 'calls');
  hold = join(folder, 'hold');
  failing = join(folder, 'failing');
  calls = () => readFile(log, 'utf8').catch(() => '');
  await mkdir(folder);
  await writeFile(
    join(folder, 'sync'),
    `#!/bin/sh\necho "$@" >>'${log}'\nwhile [ -e '${hold}' ]; do sleep 0.05; done\n` +
      `[ ! -e '${failing}' ] || { echo 'sync: Input/output error' >&2; exit 1; }\n`,
  );
  await chmod(join(folder, 'sync'), 0o755);
  await device.opkg('update');
  await device.opkg('install', 'notes-app');
  const env = { ...device.env, PATH: [folder, device.path].join(delimiter) };
  daemon = await startDaemon({ root: device.root, env });
});

afterEach(async () => {
  await rm(hold, { force: true });
  await daemon.close();
  await device.close();
});

async function versionOf(name: string): Promise<string | undefined> {
  return (await device.database()).get(name)?.version;
}

test.each(['install', 'remove'])('an %s is done when it is on the disk', async (operation) => {
  const name = operation === 'install' ? 'libonce' : 'notes-app';
  if (operation === 'install') await device.opkg('remove', 'notes-app', '--force-depends');
  await writeFile(hold, '');
  const task = await daemon.submit(operation, { package: operation === 'install' ? 'demo' : name });
  await expect.poll(calls).toContain(`-f ${device.root}`);

  expect(await daemon.status(task)).toMatchObject({ running: true });
  await rm(hold);
  expect(await daemon.finished(task)).toMatchObject({ state: 'done' });
});

test('after a power cut before all of an upgrade was written the version before is on record, and the upgrade can be done again', async () => {
  device.publish(2);
  await daemon.finished(await daemon.submit('update'));
  await writeFile(hold, '');
  const task = await daemon.submit('upgrade', { package: 'notes-app' });
  await expect.poll(calls).toContain('-f');
  expect(await versionOf('notes-app')).toBe('1.1-1');
  await daemon.kill('SIGKILL');
  await rm(hold);
  await asOfAnotherBoot(join(device.root, 'etc/depotd/jobs.jsonl'));

  await daemon.restart();

  expect(await daemon.finished(task)).toMatchObject({ state: 'interrupted' });
  expect(await daemon.logOf(task)).toContain('the record of opkg from before is put back');
  expect(await versionOf('notes-app')).toBe('1.0-1');
  const again = await daemon.submit('upgrade', { package: 'notes-app' });
  expect(await daemon.finished(again)).toMatchObject({ state: 'done' });
  expect(await device.read('usr/bin/notes-app')).toContain('1.1-1');
});

test('an install that the disk did not get says so and is not done', async () => {
  await writeFile(failing, '');

  const task = await daemon.submit('install', { package: 'demo' });

  const { state, error } = await daemon.finished(task);
  expect(state).toBe('failed');
  expect(error).toContain('cannot write to the disk: sync: Input/output error');
});
