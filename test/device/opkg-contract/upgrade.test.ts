import { appendFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { Device } from '../device.ts';
import { errors, lines, startUpdatedDevice } from './start-device.ts';

const IGNORED = 'Package wrongarch version 1.0-1 has no valid architecture, ignoring.';

test('list-upgradable names what the lists have in a later version', async () => {
  const { opkg } = await startBehind('app-meta-demo');

  expect((await opkg('list-upgradable')).stdout).toBe(
    lines(
      IGNORED,
      'app-meta-demo - 1.0-1 - 1.1-1',
      'libdemo - 1.0-1 - 1.0-2',
      'demo-app - 1.0-1 - 1.1-1',
    ),
  );
});

test('upgrade takes the name, not what the package needs', async () => {
  const device = await startBehind('app-meta-demo');

  const upgrade = await device.opkg('upgrade', 'demo-app');

  expect(upgrade).toMatchObject({ code: 0, stderr: '' });
  expect(upgrade.stdout).toBe(
    lines(
      'demo-app postrm: args=[upgrade 1.1-1] PKG_UPGRADE=[1]',
      `demo-app postinst-pkg: args=[${device.root}//usr/lib/opkg/info/demo-app.postinst configure] PKG_ROOT=[${device.root}/] IPKG_INSTROOT=[${device.root}] PKG_UPGRADE=[1]`,
      IGNORED,
      'Upgrading demo-app on root from 1.0-1 to 1.1-1...',
      `Downloading ${device.feed.url}/demo-app_1.1-1_all.ipk`,
      'Configuring demo-app.',
    ),
  );
  const database = await device.database();
  expect(database.get('demo-app')?.version).toBe('1.1-1');
  expect(database.get('libdemo')?.version).toBe('1.0-1');
});

test('a package upgraded by name is no longer taken for a dependency', async () => {
  const device = await startBehind('app-meta-demo');

  await device.opkg('upgrade', 'demo-app', 'app-meta-demo');
  expect((await device.database()).get('demo-app')).toMatchObject({
    isAutoInstalled: false,
    flags: ['user'],
  });

  await device.opkg('--autoremove', 'remove', 'app-meta-demo');
  expect((await device.database()).has('demo-app')).toBe(true);
});

test('a configuration file that the user changed stays, and the new one lies beside it', async () => {
  const device = await startBehind('demo-app');
  await appendFile(join(device.root, 'etc/config/demo-app'), '# mine\n');
  expect((await device.opkg('list-changed-conffiles')).stdout).toBe(lines('/etc/config/demo-app'));

  const upgrade = await device.opkg('upgrade', 'demo-app');

  const path = join(device.root, 'etc/config/demo-app');
  expect(upgrade.code).toBe(0);
  expect(upgrade.stderr).toBe(
    errors(
      `resolve_conffiles: Existing conffile ${path} is different from the conffile in the new package. The new conffile will be placed at ${path}-opkg.`,
    ),
  );
  expect(await device.read('etc/config/demo-app')).toMatch(/1\.0-1[^]*# mine\n$/);
  expect(await device.read('etc/config/demo-app-opkg')).toContain('1.1-1');
});

test('a configuration file that nobody changed is replaced', async () => {
  const device = await startBehind('demo-app');

  expect((await device.opkg('upgrade', 'demo-app')).stderr).toBe('');

  expect(await device.read('etc/config/demo-app')).toContain('1.1-1');
  const names = await readdir(join(device.root, 'etc/config'));
  expect(names.filter((name) => name.startsWith('demo-app'))).toEqual(['demo-app']);
});

test("--force-maintainer takes the package's configuration", async () => {
  const device = await startBehind('demo-app');
  await appendFile(join(device.root, 'etc/config/demo-app'), '# mine\n');

  expect((await device.opkg('--force-maintainer', 'upgrade', 'demo-app')).stdout).toContain(
    `Conffile ${device.root}/etc/config/demo-app-opkg.backup using maintainer's setting.\n`,
  );

  expect(await device.read('etc/config/demo-app')).not.toContain('# mine');
});

test('files and dependencies that only the old version had go', async () => {
  const device = await startBehind('notes-app');

  const upgrade = await device.opkg('upgrade', 'notes-app');

  expect(upgrade.stdout).toContain('libonce was autoinstalled and is now orphaned, removing.\n');
  expect(upgrade.stdout).toContain(
    `Removing obsolete file ${device.root}/usr/share/notes-app/first.txt.\n`,
  );
  expect(await device.read('usr/share/notes-app/first.txt')).toBeUndefined();
  expect([...(await device.database()).keys()].sort()).toEqual(['libc', 'libdemo', 'notes-app']);
});

test('upgrade of what is current says nothing, of what is missing installs it, of nonsense fails', async () => {
  const { opkg } = await startUpdatedDevice();
  await opkg('install', 'virt');

  expect(await opkg('upgrade', 'virt')).toEqual({ code: 0, stdout: lines(IGNORED), stderr: '' });
  expect((await opkg('upgrade', 'tiny-01')).stdout).toContain(
    'Installing tiny-01 (1.0-1) to root...\n',
  );
  expect(await opkg('upgrade', 'nosuch')).toEqual({
    code: 255,
    stdout: lines(IGNORED, "Unknown package 'nosuch'."),
    stderr: '',
  });
});

test('a package on hold is not upgraded', async () => {
  const { opkg, database } = await startBehind('libdemo');
  await opkg('flag', 'hold', 'libdemo');

  expect((await opkg('upgrade', 'libdemo')).stdout).toContain(
    'Not upgrading package libdemo which is marked hold (flags=0x202).\n',
  );

  expect((await database()).get('libdemo')).toMatchObject({ version: '1.0-1', flags: ['hold'] });
});

test('an earlier version in the lists counts for nothing, even when it is asked for', async () => {
  const device = await startUpdatedDevice({ feedVersion: 2 });
  await device.opkg('install', 'libdemo');
  device.publish(1);
  await device.opkg('update');

  for (const words of [['install'], ['--force-downgrade', 'install']]) {
    expect((await device.opkg(...words, 'libdemo')).stdout).toBe(
      lines('Package libdemo (1.0-2) installed in root is up to date.'),
    );
  }
});

test('--force-reinstall of a version that the lists no longer have removes it and stops there', async () => {
  const device = await startUpdatedDevice({ feedVersion: 2 });
  await device.opkg('install', 'demo-app');
  device.publish(1);
  await device.opkg('update');

  const reinstall = await device.opkg('--force-reinstall', 'install', 'demo-app');

  expect(reinstall.code).toBe(255);
  expect(reinstall.stderr).toBe(
    errors(
      'opkg_download_pkg: Package demo-app is not available from any configured src.',
      "opkg_install_pkg: Failed to download demo-app. Perhaps you need to run 'opkg update'?",
      'opkg_install_cmd: Cannot install package demo-app.',
    ),
  );
  expect((await device.database()).get('demo-app')?.state).toBe('not-installed');
  // The stanza left behind stands in the way of the version that is there.
  expect((await device.opkg('install', 'demo-app')).code).toBe(255);
});

test('a NAME.list that is missing is told of and does not stop an upgrade', async () => {
  const { opkg, root } = await startBehind('libdemo');
  await rm(join(root, 'usr/lib/opkg/info/libc.list'));

  const upgrade = await opkg('upgrade', 'libdemo');

  expect(upgrade.code).toBe(0);
  expect(upgrade.stderr).toBe(
    errors(
      `pkg_get_installed_files: Failed to open ${root}//usr/lib/opkg/info/libc.list: No such file or directory.`,
    ),
  );
});

/**
 * A device on which a package of the first feed is installed while its lists already have the
 * second.
 */
async function startBehind(name: string): Promise<Device> {
  const device = await startUpdatedDevice();
  await device.opkg('install', name);
  device.publish(2);
  await device.opkg('update');
  return device;
}
