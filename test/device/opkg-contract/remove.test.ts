import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { Device } from '../device.ts';
import { simplePackage } from '../packages/package-parts.ts';
import { errors, lines, startUpdatedDevice } from './start-device.ts';

const REFUSAL = [
  'Refusing to remove essential package libc.',
  '\tRemoving an essential package may lead to an unusable system, but if',
  '\tyou enjoy that kind of pain, you can force opkg to proceed against',
  '\tits will with the option: --force-removal-of-essential-packages',
];

test('what others need is not removed', async () => {
  const device = await startWith('app-meta-demo');

  expect(await device.opkg('remove', 'libdemo')).toEqual({
    code: 255,
    stdout: lines('No packages removed.'),
    stderr: errors(
      'print_dependents_warning: Package libdemo is depended upon by packages:',
      'print_dependents_warning: \tdemo-app',
      'print_dependents_warning: These might cease to work if package libdemo is removed.\n',
      'print_dependents_warning: Force removal of this package with --force-depends.',
      'print_dependents_warning: Force removal of this package and its dependents',
      'print_dependents_warning: with --force-removal-of-dependent-packages.',
    ),
  });
  expect((await device.database()).size).toBe(4);
});

test('--autoremove takes along what came as a dependency and nobody needs any more', async () => {
  const device = await startWith('app-meta-demo');

  expect(await device.opkg('--autoremove', 'remove', 'app-meta-demo')).toEqual({
    code: 0,
    stdout: lines(
      'demo-app postrm: args=[remove] PKG_UPGRADE=[0]',
      'Removing package app-meta-demo from root...',
      'demo-app was autoinstalled and is now orphaned, removing.',
      'Removing package demo-app from root...',
      'libdemo was autoinstalled and is now orphaned, removing.',
      'Removing package libdemo from root...',
    ),
    stderr: '',
  });
  expect([...(await device.database()).keys()]).toEqual(['libc']);
  expect(await device.read('usr/lib/opkg/info/demo-app.control')).toBeUndefined();
});

test('--autoremove leaves what another package still needs', async () => {
  const device = await startWith('app-meta-demo', 'app-meta-notes');

  await device.opkg('--autoremove', 'remove', 'app-meta-demo');

  expect([...(await device.database()).keys()].sort()).toEqual([
    'app-meta-notes',
    'libc',
    'libdemo',
    'libonce',
    'notes-app',
  ]);
});

test('--force-removal-of-dependent-packages takes along what needs the package', async () => {
  const device = await startWith('app-meta-demo');

  const remove = await device.opkg('--force-removal-of-dependent-packages', 'remove', 'libdemo');

  expect(remove.code).toBe(0);
  expect(remove.stdout).toContain(
    lines(
      'Removing package app-meta-demo from root...',
      'Removing package demo-app from root...',
      'Removing package libdemo from root...',
    ),
  );
  expect([...(await device.database()).keys()]).toEqual(['libc']);
});

test('naming an app and its meta package with both options removes all and still exits with 255', async () => {
  const device = await startWith('app-meta-demo');

  const remove = await device.opkg(
    '--autoremove',
    '--force-removal-of-dependent-packages',
    'remove',
    'demo-app',
    'app-meta-demo',
  );

  expect(remove.code).toBe(255);
  expect(remove.stdout).toMatch(
    /Removing package demo-app from root\.\.\.\nYou can force removal[^]*No packages removed\.\n$/,
  );
  expect(remove.stderr).toBe(
    errors(
      'pkg_run_script: Internal error: demo-app has a NULL tmp_unpack_dir.',
      'opkg_remove_pkg: not removing package "demo-app", prerm script failed',
      'opkg_remove_cmd: Package app-meta-demo is not installed.',
    ),
  );
  expect([...(await device.database()).keys()]).toEqual(['libc']);
});

test('a configuration file that the user changed stays', async () => {
  const device = await startWith('demo-app');
  await appendFile(join(device.root, 'etc/config/demo-app'), '# mine\n');

  expect((await device.opkg('remove', 'demo-app')).stdout).toContain(
    `Not deleting modified conffile ${device.root}/etc/config/demo-app.\n`,
  );
  expect(await device.read('etc/config/demo-app')).toContain('# mine');

  const install = await device.opkg('install', 'demo-app');
  expect(install.stderr).toContain(
    `The new conffile will be placed at ${device.root}/etc/config/demo-app-opkg.\n`,
  );
  expect(await device.read('etc/config/demo-app')).toContain('# mine');
});

test('a configuration file that is gone is missed by status and remove', async () => {
  const { opkg, root } = await startWith('demo-app');
  await rm(join(root, 'etc/config/demo-app'));
  const complaint = errors(
    `file_sha256sum_alloc: Failed to open file ${root}/etc/config/demo-app: No such file or directory.`,
  );

  expect(await opkg('status', 'demo-app')).toMatchObject({ code: 0, stderr: complaint });
  expect(await opkg('remove', 'demo-app')).toMatchObject({ code: 0, stderr: complaint });
});

test('removing what is not installed is no failure', async () => {
  const { opkg } = await startUpdatedDevice();

  expect(await opkg('remove', 'nosuch')).toEqual({
    code: 0,
    stdout: lines('No packages removed.'),
    stderr: '',
  });
});

test('an essential package is not removed', async () => {
  const { opkg } = await startUpdatedDevice();

  expect(await opkg('remove', 'libc')).toEqual({
    code: 255,
    stdout: lines(...REFUSAL, 'No packages removed.'),
    stderr: '',
  });
});

test.each([
  ['tiny-??', ['virt']],
  ['[a-u]*1', ['tiny-02', 'virt']],
  ['tiny-0[!1]', ['tiny-01', 'virt']],
  ['v\\irt', ['tiny-01', 'tiny-02']],
])('remove takes %s for a pattern', async (pattern, left) => {
  const device = await startWith('tiny-01', 'tiny-02', 'virt');

  expect((await device.opkg('remove', pattern)).code).toBe(0);

  expect([...(await device.database()).keys()].filter((name) => name !== 'libc').sort()).toEqual(
    left,
  );
});

test('status and list-installed take patterns too', async () => {
  const { opkg } = await startWith('app-meta-demo', 'virt');

  expect((await opkg('status', '*demo*')).stdout.match(/^Package: .*$/gm)).toEqual([
    'Package: app-meta-demo',
    'Package: libdemo',
    'Package: demo-app',
  ]);
  expect((await opkg('list-installed', '?irt')).stdout).toBe(lines('virt - 1.0-1'));
  expect((await opkg('--nocase', 'list-installed', 'VIRT')).stdout).toBe(lines('virt - 1.0-1'));
});

test('folders that a package made stay when it goes', async () => {
  const { opkg, read, root } = await startWith('notes-app');
  await opkg('remove', 'notes-app');

  expect(await read('usr/share/notes-app/first.txt')).toBeUndefined();
  await expect(rm(join(root, 'usr/share/notes-app'), { recursive: true })).resolves.toBeUndefined();
});

test('removing a package takes the control files of another whose name goes on after a dot', async () => {
  const device = await startUpdatedDevice({ packages: [simplePackage('virt.more')] });
  await device.opkg('install', 'virt', 'virt.more');

  await device.opkg('remove', 'virt');

  expect((await device.database()).get('virt.more')?.state).toBe('installed');
  expect(await device.read('usr/lib/opkg/info/virt.more.control')).toBeUndefined();
});

async function startWith(...names: readonly string[]): Promise<Device> {
  const device = await startUpdatedDevice();
  await device.opkg('install', ...names);
  return device;
}
