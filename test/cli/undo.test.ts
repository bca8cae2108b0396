import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { startClientTest } from './start-depotctl.ts';

test('undo takes back the newest task that can be undone, and itself', async () => {
  const { depotctl, device } = await startClientTest();
  expect((await depotctl('install', 'demo')).code).toBe(0);

  const dry = await depotctl('undo', '--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.stdout).toMatch(/remove\s+demo-app/);
  const undone = await depotctl('undo');
  expect([undone.code, undone.stderr]).toEqual([0, expect.stringContaining('done') as string]);
  expect((await device.database()).has('demo-app')).toBe(false);

  expect((await depotctl('undo')).code).toBe(0);
  expect((await device.database()).get('demo-app')?.state).toBe('installed');
});

test('what was asked for with --confirm says how it is kept, and confirm keeps it', async () => {
  const { depotctl } = await startClientTest();
  const { stderr } = await depotctl('install', 'demo', '--confirm', '600');
  const [, id = ''] = /it goes back in .*unless: depotctl confirm (\w+)/.exec(stderr) ?? [];

  expect((await depotctl('confirm', id)).stderr).toContain('is confirmed: what it changed stays');

  expect((await depotctl('confirm', id)).code).toBe(0);
});

test('backup says where the backup is, and makes none that cannot be written', async () => {
  const { depotctl, device } = await startClientTest();
  const file = join(device.root, 'tmp/mine.tar.gz');
  await writeFile(file, 'mine');

  for (const [target, reason] of [
    [file, 'it is there already'],
    [join(device.root, 'absent/mine.tar.gz'), 'there is no such folder'],
  ] as const) {
    const { code, stderr } = await depotctl('backup', target);
    expect([code, stderr]).toEqual([1, `depotctl: cannot write ${target}: ${reason}\n`]);
  }
  expect((await depotctl('backups')).stderr).toContain('there are no backups');

  const [, id = ''] = /kept on the device as (\w+)/.exec((await depotctl('backup')).stderr) ?? [];
  expect((await depotctl('backups')).stdout).toContain(`${id} `);
});

test('an undo of settings alone names them, and does not say that there is nothing to do', async () => {
  const { depotctl } = await startClientTest();
  expect((await depotctl('feeds', 'no-upgrades', 'lab')).code).toBe(0);

  const { code, stdout, stderr } = await depotctl('undo', '--dry-run');

  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).toContain('files that go back: /etc/depotd/no-upgrades.json');
});

test('a restore that is not possible ends with 1 when its plan alone is asked for', async () => {
  const { depotctl, device } = await startClientTest();
  await depotctl('install', 'demo');
  const [, id = ''] = /kept on the device as (\w+)/.exec((await depotctl('backup')).stderr) ?? [];
  await depotctl('remove', 'demo');
  expect((await depotctl('restore', id, '--dry-run')).code).toBe(0);
  const list = join(device.root, 'var/opkg-lists/lab');
  const text = gunzipSync(await readFile(list)).toString();
  const field = /^Installed-Size: .*$/gm;
  await writeFile(list, gzipSync(text.replaceAll(field, `Installed-Size: ${10 ** 15}`)));

  const { code, stdout, stderr } = await depotctl('restore', id, '--dry-run');

  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('free');
});

test('a restore of a file whose plan alone is asked for leaves no backup on the device', async () => {
  const { depotctl, device } = await startClientTest();
  const file = join(device.root, 'b.tar.gz');
  await depotctl('backup', file);
  expect((await depotctl('restore', file, '--dry-run')).code).toBe(0);
  const [{ id }] = JSON.parse((await depotctl('backups', '--json')).stdout) as [{ id: string }];
  const folder = join(device.root, 'etc/depotd/backups');
  await rm(join(folder, `${id}.tar.gz`));

  expect((await depotctl('restore', file, '--dry-run')).code).toBe(0);

  expect(await readdir(folder)).toEqual([]);
});
