import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { largePackage } from '../packages/awkward-packages.ts';
import { runCommand } from '../command.ts';
import { errors, lines, startDevice, startUpdatedDevice } from './start-device.ts';

test('install brings the dependencies first, and prints what scripts say before its own words', async () => {
  const { feed, opkg, root } = await startUpdatedDevice();

  expect(await opkg('install', 'app-meta-demo')).toEqual({
    code: 0,
    stdout: lines(
      `demo-app postinst-pkg: args=[${root}//usr/lib/opkg/info/demo-app.postinst configure] PKG_ROOT=[${root}/] IPKG_INSTROOT=[${root}] PKG_UPGRADE=[0]`,
      'Installing app-meta-demo (1.0-1) to root...',
      `Downloading ${feed.url}/app-meta-demo_1.0-1_all.ipk`,
      'Installing libdemo (1.0-1) to root...',
      `Downloading ${feed.url}/libdemo_1.0-1_x86_64.ipk`,
      'Installing demo-app (1.0-1) to root...',
      `Downloading ${feed.url}/demo-app_1.0-1_all.ipk`,
      'Configuring libdemo.',
      'Configuring demo-app.',
      'Configuring app-meta-demo.',
    ),
    stderr: '',
  });
});

test('the status file holds a stanza for each package, in the order of its hash table', async () => {
  const device = await startUpdatedDevice();
  await device.opkg('install', 'app-meta-demo');

  const status = await device.read('usr/lib/opkg/status');

  expect(status?.replace(/(Installed-Time: )(?!1700000000)\d+/g, '$1NOW'))
    .toBe(`Package: app-meta-demo
Version: 1.0-1
Depends: libc, demo-app
Status: install user installed
Architecture: all
Installed-Time: NOW

Package: libc
Version: 1.2.3-4
Status: install user installed
Essential: yes
Architecture: x86_64
Installed-Time: 1700000000

Package: libdemo
Version: 1.0-1
Depends: libc
Status: install ok installed
Architecture: x86_64
Installed-Time: NOW
Auto-Installed: yes

Package: demo-app
Version: 1.0-1
Depends: libc, libdemo
Status: install ok installed
Architecture: all
Conffiles:
 /etc/config/demo-app e8b3600b72cf389c209fd1091379e9ba7e2a1bb714cfd654b157940c6c31b3c4
Installed-Time: NOW
Auto-Installed: yes

`);
});

test('the control files lie in the info folder, and NAME.list has paths without folders', async () => {
  const device = await startUpdatedDevice();
  await device.opkg('install', 'demo-app');

  const names = (await readdir(join(device.root, 'usr/lib/opkg/info'))).filter((name) =>
    name.startsWith('demo-app'),
  );

  expect(names.sort()).toEqual(
    ['conffiles', 'control', 'list', 'postinst', 'postinst-pkg', 'postrm', 'prerm'].map(
      (kind) => `demo-app.${kind}`,
    ),
  );
  expect(await device.read('usr/lib/opkg/info/demo-app.list')).toBe(
    lines('/etc/init.d/demo-app', '/usr/bin/demo-app', '/etc/config/demo-app'),
  );
  expect((await device.opkg('files', 'demo-app')).stdout).toBe(
    lines(
      'Package demo-app (1.0-1) is installed on root and has the following files:',
      ...['/etc/init.d/demo-app', '/usr/bin/demo-app', '/etc/config/demo-app'].map(
        (path) => device.root + path,
      ),
    ),
  );
  expect((await stat(join(device.root, 'usr/bin/demo-app'))).mode & 0o777).toBe(0o755);
});

test('what is installed already stays, and that is no failure', async () => {
  const { opkg } = await startUpdatedDevice();
  await opkg('install', 'virt');

  expect(await opkg('install', 'virt')).toEqual({
    code: 0,
    stdout: lines('Package virt (1.0-1) installed in root is up to date.'),
    stderr: '',
  });
});

test('of several names the good ones are installed, and the exit code is 255', async () => {
  const device = await startUpdatedDevice();

  const install = await device.opkg('install', 'nosuch', 'virt');

  expect(install.code).toBe(255);
  expect(install.stdout).toContain(
    lines("Unknown package 'nosuch'.", 'Installing virt (1.0-1) to root...'),
  );
  expect(install.stderr).toBe(errors('opkg_install_cmd: Cannot install package nosuch.'));
  expect((await device.database()).get('virt')).toMatchObject({
    state: 'installed',
    flags: ['user'],
  });
});

test('forty packages install in one call', async () => {
  const device = await startUpdatedDevice();
  const names = Array.from({ length: 40 }, (_, at) => `tiny-${String(at + 1).padStart(2, '0')}`);

  expect((await device.opkg('install', ...names)).code).toBe(0);

  const database = await device.database();
  expect(names.filter((name) => database.get(name)?.state !== 'installed')).toEqual([]);
});

test('--noaction downloads and announces, and changes nothing', async () => {
  const device = await startUpdatedDevice();
  const before = await device.read('usr/lib/opkg/status');

  const install = await device.opkg('--noaction', 'install', 'demo-app');

  expect(install).toMatchObject({ code: 0, stderr: '' });
  expect(install.stdout).not.toContain('Configuring');
  expect(device.feed.requests('demo-app_1.0-1_all.ipk')).toBe(1);
  expect(await device.read('usr/lib/opkg/status')).toBe(before);
  expect(await device.read('usr/bin/demo-app')).toBeUndefined();
});

test('--download-only leaves the files in the working folder', async () => {
  const { env, feed, root } = await startUpdatedDevice();
  const cwd = join(root, 'tmp/downloads');
  await mkdir(cwd);

  const install = await runCommand(
    ['opkg', '-o', root, '--download-only', 'install', 'app-meta-demo'],
    { env, cwd },
  );

  expect(install).toEqual({
    code: 0,
    stdout: lines(
      ...['app-meta-demo_1.0-1_all', 'libdemo_1.0-1_x86_64', 'demo-app_1.0-1_all'].map(
        (name) => `Downloading ${feed.url}/${name}.ipk`,
      ),
    ),
    stderr: '',
  });
  expect((await readdir(cwd)).sort()).toEqual([
    'app-meta-demo_1.0-1_all.ipk',
    'demo-app_1.0-1_all.ipk',
    'libdemo_1.0-1_x86_64.ipk',
  ]);
});

test('a cache is used again, unless its file does not fit the index', async () => {
  const { feed, opkg, root } = await startUpdatedDevice();
  const cache = join(root, 'tmp/cache');
  await mkdir(cache);
  await opkg('--cache', cache, 'install', 'virt');
  await opkg('remove', 'virt');

  expect((await opkg('--cache', cache, 'install', 'virt')).stdout).toContain(
    `Copying ${cache}/virt_1.0-1_all.ipk.\n`,
  );

  await opkg('remove', 'virt');
  await writeFile(join(cache, 'virt_1.0-1_all.ipk'), 'damaged');
  expect((await opkg('--cache', cache, 'install', 'virt')).stdout).toContain(
    'Removing virt from cache because it has incorrect checksum.\n',
  );
  expect(feed.requests('virt_1.0-1_all.ipk')).toBe(2);
});

test('a file and an address install like a name', async () => {
  const { feed, opkg, root } = await startUpdatedDevice();
  await feed.writeTo(join(root, 'tmp/feed'));

  expect((await opkg('install', 'tmp/feed/virt_1.0-1_all.ipk')).stdout).toBe(
    lines('Installing virt (1.0-1) to root...', 'Configuring virt.'),
  );
  expect((await opkg('install', `${feed.url}/tiny-01_1.0-1_all.ipk`)).stdout).toBe(
    lines(
      `Downloading ${feed.url}/tiny-01_1.0-1_all.ipk`,
      'Installing tiny-01 (1.0-1) to root...',
      'Configuring tiny-01.',
    ),
  );
});

test('a virtual name installs its provider but does not name it afterwards', async () => {
  const { opkg } = await startUpdatedDevice();

  expect((await opkg('install', 'virtual-thing')).stdout).toContain(
    'Installing virt (1.0-1) to root...\n',
  );

  expect((await opkg('list-installed', 'virt')).stdout).toBe(lines('virt - 1.0-1'));
  expect((await opkg('list-installed', 'virtual-thing')).stdout).toBe('');
  expect(await opkg('remove', 'virtual-thing')).toEqual({
    code: 0,
    stdout: lines('No packages removed.'),
    stderr: '',
  });
});

test('a dependency on a virtual name brings the provider', async () => {
  const device = await startUpdatedDevice();

  expect((await device.opkg('install', 'needvirt')).code).toBe(0);

  expect((await device.database()).get('virt')).toMatchObject({
    state: 'installed',
    isAutoInstalled: true,
  });
});

test('--force-reinstall removes and installs, and Auto-Installed stays', async () => {
  const device = await startUpdatedDevice();
  await device.opkg('install', 'app-meta-demo');

  const install = await device.opkg('--force-reinstall', 'install', 'demo-app');

  expect(install.code).toBe(0);
  expect(install.stdout).toContain(
    'Removing package demo-app from root...\nInstalling demo-app (1.0-1) to root...\n',
  );
  expect((await device.database()).get('demo-app')).toMatchObject({
    state: 'installed',
    flags: ['user'],
    isAutoInstalled: true,
  });
});

test('another destination has its own status file', async () => {
  const device = await startUpdatedDevice();

  expect((await device.opkg('--dest', 'ram', 'install', 'virt')).stdout).toContain(
    'Installing virt (1.0-1) to ram...\n',
  );

  expect(await device.read('tmp/usr/lib/opkg/status')).toContain('Package: virt\n');
  expect((await device.database()).has('virt')).toBe(false);
  expect((await device.opkg('remove', 'virt')).stdout).toBe(
    lines('Removing package virt from ram...'),
  );
  expect(await device.opkg('--dest', 'nosuch', 'install', 'virt')).toEqual({
    code: 255,
    stdout: '',
    stderr: errors("resolve_pkg_dest_list: Unknown dest name: `nosuch'."),
  });
});

test('a package of 20 MiB arrives whole', async () => {
  const { opkg, root } = await startUpdatedDevice({ packages: [largePackage()] });

  expect((await opkg('install', 'large')).code).toBe(0);

  expect((await stat(join(root, 'usr/share/large/noise'))).size).toBe(20 * 1024 ** 2);
});

test('without lists there is nothing to install', async () => {
  const { opkg } = await startDevice();

  expect(await opkg('install', 'demo-app')).toEqual({
    code: 255,
    stdout: lines("Unknown package 'demo-app'."),
    stderr: errors('opkg_install_cmd: Cannot install package demo-app.'),
  });
});
