import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { loadConfig } from '../../src/config/config.ts';
import { createPaths, type Paths } from '../../src/device/paths.ts';
import { OPKG } from '../../src/package-management/opkg/create-opkg.ts';
import type { PackageBackend } from '../../src/package-management/manager.ts';
import { BACKENDS, selectManager } from '../../src/package-management/select.ts';

/** Another package manager, whose database is the file `other`. */
const OTHER: PackageBackend = {
  name: 'other',
  record: '/other/usr/lib/opkg/status',
  create: OPKG.create,
};

let root: string;
let paths: Paths;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'depotd-manager-'));
  paths = createPaths(loadConfig({ file: '/dev/null', overrides: [`main.root=${root}`] }));
});
afterEach(() => rm(root, { recursive: true }));

test.each([
  { of: [], wanted: 'auto', name: 'opkg' },
  { of: ['usr/lib/opkg/status'], wanted: 'auto', name: 'opkg' },
  { of: ['other/usr/lib/opkg/status'], wanted: 'auto', name: 'other' },
  { of: ['usr/lib/opkg/status', 'other/usr/lib/opkg/status'], wanted: 'auto', name: 'opkg' },
  { of: ['usr/lib/opkg/status'], wanted: 'other', name: 'other' },
  { of: ['other/usr/lib/opkg/status'], wanted: 'opkg', name: 'opkg' },
])('with packages on record in $of and the option $wanted it is $name', async (device) => {
  for (const file of device.of) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), 'Package: libc\nStatus: install user installed\n\n');
  }

  expect((await selectManager(paths, device.wanted, [OPKG, OTHER])).name).toBe(device.name);
});

const OPKG_RECORDS = { 'usr/lib/opkg/status': 'Package: libc\nStatus: install user installed\n\n' };
const APK_RECORDS = { 'lib/apk/db/installed': 'P:libc\nV:1.2.5-r5\n\n' };
const OPKG_PROGRAM = { 'bin/opkg': '#!/bin/sh\n' };
const APK_PROGRAM = { 'usr/bin/apk': '#!/bin/sh\n' };

/** A device that went from 24.10 to 25.12, or half of the way. */
test.each([
  { has: { ...APK_RECORDS }, wanted: 'auto', name: 'apk' },
  { has: { ...OPKG_RECORDS, ...APK_RECORDS, ...APK_PROGRAM }, wanted: 'auto', name: 'apk' },
  { has: { ...OPKG_RECORDS, ...APK_RECORDS, ...OPKG_PROGRAM }, wanted: 'auto', name: 'opkg' },
  { has: { ...OPKG_RECORDS, ...APK_PROGRAM }, wanted: 'auto', name: 'opkg' },
  { has: { ...APK_RECORDS, ...OPKG_PROGRAM }, wanted: 'auto', name: 'apk' },
  {
    has: { ...OPKG_RECORDS, ...APK_RECORDS, ...OPKG_PROGRAM, ...APK_PROGRAM },
    wanted: 'auto',
    name: 'opkg',
  },
  { has: { ...OPKG_RECORDS, ...APK_RECORDS, ...OPKG_PROGRAM }, wanted: 'apk', name: 'apk' },
  { has: { ...OPKG_RECORDS, ...APK_RECORDS, ...APK_PROGRAM }, wanted: 'opkg', name: 'opkg' },
  { has: { ...OPKG_RECORDS, 'lib/apk/db/installed': '' }, wanted: 'auto', name: 'opkg' },
  // A power cut has emptied the record.
  { has: { ...APK_PROGRAM, 'lib/apk/db/installed': '' }, wanted: 'auto', name: 'apk' },
  { has: { ...OPKG_PROGRAM, 'usr/lib/opkg/status': '' }, wanted: 'auto', name: 'opkg' },
  { has: { ...APK_PROGRAM, ...OPKG_PROGRAM }, wanted: 'auto', name: 'opkg' },
])('with $has and the option $wanted it is $name', async ({ has, wanted, name }) => {
  for (const [file, text] of Object.entries(has)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text, { mode: 0o755 });
  }

  expect((await selectManager(paths, wanted)).name).toBe(name);
});

test('an empty database is not in use', async () => {
  await mkdir(join(root, 'usr/lib/opkg'), { recursive: true });
  await writeFile(join(root, 'usr/lib/opkg/status'), '');

  expect((await selectManager(paths, 'auto', [OTHER, OPKG])).name).toBe('other');
});

test('no two package managers have one name', () => {
  const names = BACKENDS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
