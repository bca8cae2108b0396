import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { removeTemporaryFolders } from '../../../../src/package-management/opkg/recovery/orphaned-files.ts';
import { slowPackage } from '../../../device/packages/awkward-packages.ts';
import { createDevice, type Device } from '../../../device/device.ts';
import { openHost, type OpkgHost } from '../open-host.ts';

let device: Device;
let host: OpkgHost;

beforeAll(async () => {
  device = await createDevice({ packages: [slowPackage(0.5)] });
  host = await openHost(device);
  await device.opkg('update');
});

afterAll(() => device.close());

/** Leaves the package's files and no status entry. */
async function killInstall(): Promise<void> {
  const install = device.startOpkg('install', 'slow');
  await install.printed('slow: postinst begin');
  install.signal('SIGKILL');
  await install.outcome;
}

test('what was there before the time named is left alone', async () => {
  await killInstall();

  expect(await host.installation.removeOrphans(Date.now() / 1000 + 60)).toEqual([]);

  expect(await device.read('usr/bin/slow')).toBeDefined();
});

test('what a killed opkg left of a package is removed, and told', async () => {
  expect(await device.read('usr/bin/slow')).toBeDefined();

  expect(await host.installation.removeOrphans(Date.now() / 1000 - 60)).toEqual(['slow']);

  expect(await device.read('usr/bin/slow')).toBeUndefined();
  expect(await device.read('usr/lib/opkg/info/slow.control')).toBeUndefined();
  expect(await device.read('usr/lib/opkg/info/slow.postinst')).toBeUndefined();
});

test('a file that another package lists stays', async () => {
  await killInstall();
  await writeFile(join(device.root, 'usr/lib/opkg/info/libc.list'), '/usr/bin/slow\t0123\n');

  expect(await host.installation.removeOrphans(Date.now() / 1000 - 60)).toEqual(['slow']);

  expect(await device.read('usr/bin/slow')).toBeDefined();
});

test('the folder of a killed opkg goes, once nobody has the lock; others stay', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-strays-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const left = await mkdtemp(join(folder, 'opkg-'));
  await writeFile(join(left, 'big.ipk'), 'downloaded');
  await mkdir(join(folder, 'opkg-backup'));
  await mkdir(join(folder, 'opkg-lists'), { mode: 0o700 });
  const now = Date.now() / 1000;

  await removeTemporaryFolders(folder, now - 60, () => Promise.resolve(4711));
  await removeTemporaryFolders(folder, now + 60, () => Promise.resolve(undefined));
  expect(await readdir(folder)).toHaveLength(3);

  await removeTemporaryFolders(folder, now - 60, () => Promise.resolve(undefined));
  expect(await readdir(folder)).toEqual(['opkg-backup', 'opkg-lists']);
});

test('a list that names a path outside of the device is not followed', async () => {
  const victim = join(device.root, '..', 'victim');
  await writeFile(victim, 'keep me');
  await writeFile(
    join(device.root, 'usr/lib/opkg/info/evil.list'),
    '/../victim\n../victim\n/usr/../../victim\n',
  );

  expect(await host.installation.removeOrphans(0)).toEqual(['evil']);

  expect((await stat(victim)).isFile()).toBe(true);
});

test('packages that the status file knows are never strays', async () => {
  await device.opkg('install', 'virt');

  expect(await host.installation.removeOrphans(0)).toEqual([]);

  expect(await device.read('usr/bin/virt')).toBeDefined();
});
