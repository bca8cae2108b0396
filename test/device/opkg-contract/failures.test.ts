import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { errors, lines, startUpdatedDevice } from './start-device.ts';

const BADPOST_ERRORS =
  'badpost: cannot do it\n' +
  errors(
    'pkg_run_script: package "badpost" postinst script returned status 3.',
    'opkg_configure: badpost.postinst returned 3.',
  );

test('a failing postinst leaves the package unpacked, with its files, and in list-installed', async () => {
  const device = await startUpdatedDevice();

  const install = await device.opkg('install', 'badpost');

  expect(install).toMatchObject({ code: 255, stderr: BADPOST_ERRORS });
  expect((await device.database()).get('badpost')).toMatchObject({
    want: 'install',
    flags: ['user'],
    state: 'unpacked',
  });
  expect(await device.read('usr/bin/badpost')).toBeDefined();
  expect((await device.opkg('list-installed', 'badpost')).stdout).toBe(lines('badpost - 1.0-1'));
});

test('a package left unpacked is tried again by every install and upgrade, and fails it', async () => {
  const device = await startUpdatedDevice();
  await device.opkg('install', 'badpost');

  const install = await device.opkg('install', 'virt');
  expect(install).toMatchObject({ code: 255, stderr: BADPOST_ERRORS });
  expect(install.stdout).toMatch(
    /^badpost: postinst starts\n[^]*Configuring badpost\.\nConfiguring virt\.\n$/,
  );
  expect((await device.database()).get('virt')?.state).toBe('installed');
  expect((await device.opkg('upgrade', 'virt')).code).toBe(255);

  expect((await device.opkg('remove', 'badpost')).code).toBe(0);
  expect((await device.opkg('install', 'tiny-01')).code).toBe(0);
});

test('configure tries what is left unpacked, and the flag says so', async () => {
  const device = await startUpdatedDevice();
  await device.opkg('install', 'virt', 'tiny-01');
  expect((await device.opkg('flag', 'unpacked', 'virt', 'tiny-01')).stdout).toBe(
    lines(
      'Setting flags for package virt to unpacked.',
      'Setting flags for package tiny-01 to unpacked.',
    ),
  );

  expect(await device.opkg('configure', 'virt')).toEqual({
    code: 0,
    stdout: lines('Configuring virt.'),
    stderr: '',
  });

  const database = await device.database();
  expect([database.get('virt')?.state, database.get('tiny-01')?.state]).toEqual([
    'installed',
    'unpacked',
  ]);
});

test('a failing preinst leaves no file, and a stanza that is not installed', async () => {
  const device = await startUpdatedDevice();

  const install = await device.opkg('install', 'badpre');

  expect(install.code).toBe(255);
  expect(install.stderr).toBe(
    'badpre: preinst says no\n' +
      errors(
        'pkg_run_script: package "badpre" preinst script returned status 1.',
        'preinst_configure: Aborting installation of badpre.',
        'opkg_install_cmd: Cannot install package badpre.',
      ),
  );
  expect((await device.database()).get('badpre')).toMatchObject({
    want: 'install',
    state: 'not-installed',
  });
  expect(await device.read('usr/bin/badpre')).toBeUndefined();
  expect((await device.opkg('list-installed', 'badpre')).stdout).toBe('');
});

test('a failing prerm keeps the package unless its removal is forced', async () => {
  const device = await startUpdatedDevice();
  await device.opkg('install', 'badprerm');

  const remove = await device.opkg('remove', 'badprerm');
  expect(remove.code).toBe(255);
  expect(remove.stdout).toBe(
    lines(
      'Removing package badprerm from root...',
      'You can force removal of packages with failed prerm scripts with the option: ',
      '\t--force-remove',
      'No packages removed.',
    ),
  );
  expect((await device.database()).has('badprerm')).toBe(true);

  expect((await device.opkg('--force-remove', 'remove', 'badprerm')).code).toBe(0);
  expect((await device.database()).has('badprerm')).toBe(false);
});

test('a failing postrm makes remove fail although the package is gone', async () => {
  const device = await startUpdatedDevice();
  await device.opkg('install', 'badpostrm');

  expect((await device.opkg('remove', 'badpostrm')).code).toBe(255);

  expect((await device.database()).has('badpostrm')).toBe(false);
});

test.each([
  [
    'badsum',
    "opkg_install_pkg: Checksum or size mismatch for package badsum. Either the opkg or the package index are corrupt. Try 'opkg update'.",
  ],
  [
    'conflictor',
    'check_conflicts_for: The following packages conflict with conflictor:\n * check_conflicts_for: \tlibdemo * ',
  ],
])('%s is refused', async (name, error) => {
  const device = await startUpdatedDevice();
  await device.opkg('install', 'libdemo');

  const install = await device.opkg('install', name);

  expect(install).toMatchObject({
    code: 255,
    stderr: errors(error, `opkg_install_cmd: Cannot install package ${name}.`),
  });
  expect((await device.database()).get(name)?.state ?? 'not-installed').toBe('not-installed');
});

test('--force-checksum installs what the index does not describe', async () => {
  const { opkg } = await startUpdatedDevice();

  expect((await opkg('--force-checksum', 'install', 'badsum')).stdout).toContain(
    'Ignored badsum checksum or size mismatch.\nConfiguring badsum.\n',
  );
});

test('a file that the feed lost is a failed download', async () => {
  const { feed, opkg } = await startUpdatedDevice();

  expect((await opkg('install', 'gone')).stderr).toBe(
    errors(
      `opkg_download: Failed to download ${feed.url}/gone_1.0-1_all.ipk, wget returned 8.`,
      "opkg_install_pkg: Failed to download gone. Perhaps you need to run 'opkg update'?",
      'opkg_install_cmd: Cannot install package gone.',
    ),
  );
});

test.each([
  ['needmissing', 'does-not-exist'],
  ['verneed', 'libdemo (>= 9.0)'],
])('%s is unknown, because nobody has %s', async (name, dependency) => {
  const { opkg } = await startUpdatedDevice();

  for (const force of [[], ['--force-depends'], ['--nodeps']]) {
    expect(await opkg(...force, 'install', name)).toEqual({
      code: 255,
      stdout: lines(`Unknown package '${name}'.`),
      stderr: errors(
        `pkg_hash_check_unresolved: cannot find dependency ${dependency} for ${name}`,
        `pkg_hash_fetch_best_installation_candidate: Packages for ${name} found, but incompatible with the architectures configured`,
        `opkg_install_cmd: Cannot install package ${name}.`,
      ),
    });
  }
});

test('a package for another machine is ignored in a feed and incompatible as a file', async () => {
  const { feed, opkg, root } = await startUpdatedDevice();
  await feed.writeTo(join(root, 'tmp/feed'));
  const ignored = 'Package wrongarch version 1.0-1 has no valid architecture, ignoring.';

  expect(await opkg('install', 'wrongarch')).toEqual({
    code: 255,
    stdout: lines(ignored, ignored, "Unknown package 'wrongarch'."),
    stderr: errors('opkg_install_cmd: Cannot install package wrongarch.'),
  });
  expect((await opkg('install', 'tmp/feed/wrongarch_1.0-1_mips_24kc.ipk')).stderr).toBe(
    errors(
      'pkg_hash_fetch_best_installation_candidate: Packages for wrongarch found, but incompatible with the architectures configured',
      'opkg_install_cmd: Cannot install package wrongarch.',
    ),
  );
});

test("a file of another package is not overwritten; forced, it goes with the newcomer's removal", async () => {
  const device = await startUpdatedDevice();
  await device.opkg('install', 'demo-app');
  const path = `${device.root}/usr/bin/demo-app`;

  expect((await device.opkg('install', 'clash')).stderr).toBe(
    errors(
      `check_data_file_clashes: Package clash wants to install file ${path}\n\tBut that file is already provided by package  * demo-app`,
      'opkg_install_cmd: Cannot install package clash.',
    ),
  );

  expect((await device.opkg('--force-overwrite', 'install', 'clash')).code).toBe(0);
  expect((await device.opkg('search', path)).stdout).toBe(lines('clash - 1.0-1'));
  await device.opkg('remove', 'clash');
  expect(await device.read('usr/bin/demo-app')).toBeUndefined();
  expect((await device.database()).get('demo-app')?.state).toBe('installed');
});

test('a file that nobody owns is overwritten without a word', async () => {
  const device = await startUpdatedDevice();
  await writeFile(join(device.root, 'usr/bin/virt'), 'mine\n');

  expect(await device.opkg('install', 'virt')).toMatchObject({ code: 0, stderr: '' });

  expect(await device.read('usr/bin/virt')).not.toBe('mine\n');
});

test('the space is looked for on the overlay, and a size of 2 to 4 GiB is never there', async () => {
  const device = await startUpdatedDevice();

  const install = await device.opkg('install', 'toobig');

  expect(install.code).toBe(255);
  expect(install.stderr).toMatch(
    new RegExp(
      `verify_pkg_installable: Only have \\d+kb available on filesystem ${device.root}/overlay, pkg toobig needs 18014398508\\d+\\n`,
    ),
  );
  expect(device.feed.requests('toobig_1.0-1_all.ipk')).toBe(0);
  expect((await device.opkg('--force-space', 'install', 'toobig')).code).toBe(0);
});

test.each([
  ['hello', (path: string) => [`pkg_init_from_file: Malformed package file ${path}.`]],
  [
    undefined,
    (path: string) => [
      `wfopen: ${path}: No such file or directory.`,
      `pkg_init_from_file: Failed to extract control file from ${path}.`,
    ],
  ],
])('a file with %s in it is no package, and nothing else is tried', async (content, expected) => {
  const device = await startUpdatedDevice();
  const path = join(device.root, 'tmp/some.ipk');
  if (content !== undefined) await writeFile(path, content);

  expect(await device.opkg('install', 'virt', path)).toEqual({
    code: 255,
    stdout: '',
    stderr: errors(...expected(path)),
  });
  expect((await device.database()).has('virt')).toBe(false);
});

test('after a failure the temporary folder is gone', async () => {
  const { opkg, root } = await startUpdatedDevice();
  await opkg('install', 'badpost', 'gone', 'nosuch');

  expect((await readdir(join(root, 'tmp'))).filter((name) => /^opkg-\w{6}$/.test(name))).toEqual(
    [],
  );
});
