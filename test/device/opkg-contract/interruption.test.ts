import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { slowPackage } from '../packages/awkward-packages.ts';
import type { Device } from '../device.ts';
import { simplePackage } from '../packages/package-parts.ts';
import { startUpdatedDevice } from './start-device.ts';

const SLOW = { packages: [slowPackage(1)] };

test('SIGINT writes the status file, leaves the package unpacked and exits with 130', async () => {
  const device = await startUpdatedDevice(SLOW);
  const install = device.startOpkg('install', 'slow');
  await install.printed('slow: postinst begin');

  install.signal('SIGINT');

  expect(await install.exit).toBe(130);
  expect((await device.database()).get('slow')).toMatchObject({
    want: 'install',
    flags: ['user'],
    state: 'unpacked',
  });
  expect((await install.outcome).stdout).toContain(
    'Configuring slow.\nInterrupted. Writing out status database.\n',
  );
  expect(await temporaryFolders(device)).toHaveLength(1);
});

test('what SIGINT left unpacked is configured by the next install', async () => {
  const device = await startUpdatedDevice(SLOW);
  const install = device.startOpkg('install', 'slow');
  await install.printed('slow: postinst begin');
  install.signal('SIGINT');
  await install.outcome;

  expect((await device.opkg('install', 'virt')).stdout).toMatch(
    /^slow: postinst begin\nslow: postinst end\n/,
  );

  expect((await device.database()).get('slow')?.state).toBe('installed');
});

test('SIGTERM leaves files and control files without a stanza, and the script running', async () => {
  const device = await startUpdatedDevice(SLOW);
  const install = device.startOpkg('install', 'slow');
  await install.printed('slow: postinst begin');

  install.signal('SIGTERM');

  expect(await install.exit).toBe(128 + 15);
  expect((await device.database()).has('slow')).toBe(false);
  expect(await device.read('usr/bin/slow')).toBeDefined();
  expect(await device.read('usr/lib/opkg/info/slow.control')).toBeDefined();
  expect(await temporaryFolders(device)).toHaveLength(1);
  expect((await install.outcome).stdout).toBe('slow: postinst begin\nslow: postinst end\n');
});

test('after SIGTERM the same install goes through', async () => {
  const device = await startUpdatedDevice(SLOW);
  const install = device.startOpkg('install', 'slow');
  await install.printed('slow: postinst begin');
  install.signal('SIGTERM');
  await install.outcome;

  expect(await device.opkg('install', 'slow')).toMatchObject({ code: 0, stderr: '' });

  expect((await device.database()).get('slow')?.state).toBe('installed');
});

test('SIGINT waits while files change hands, in the scripts as well', async () => {
  const preinst = '#!/bin/sh\necho "preinst begin"\nsleep 0.5\necho "preinst end"\n';
  const device = await startUpdatedDevice({
    packages: [simplePackage('careful', { scripts: { preinst } })],
  });
  const install = device.startOpkg('install', 'careful');
  await install.printed('preinst begin');

  install.signal('SIGINT');

  const { code, stdout } = await install.outcome;
  expect(code).toBe(130);
  expect(stdout).toMatch(
    /^preinst begin\npreinst end\n[^]*Interrupted\. Writing out status database\.\n$/,
  );
  expect((await device.database()).get('careful')?.state).toBe('unpacked');
});

test('SIGINT during a download leaves everything as it was', async () => {
  const device = await startUpdatedDevice();
  device.feed.misbehave('virt_1.0-1_all.ipk', 'stalled');
  const before = await device.read('usr/lib/opkg/status');
  const install = device.startOpkg('install', 'virt');
  await expect.poll(() => device.feed.requests('virt_1.0-1_all.ipk')).toBe(1);

  install.signal('SIGINT');

  expect(await install.exit).toBe(130);
  expect(await device.read('usr/lib/opkg/status')).toBe(before);
});

async function temporaryFolders(device: Device): Promise<string[]> {
  return (await readdir(join(device.root, 'tmp'))).filter((name) => /^opkg-\w{6}$/.test(name));
}
