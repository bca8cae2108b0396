import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { beforeEach, expect, test } from 'vitest';

import { createPaths, type Paths } from '../../../src/device/paths.ts';
import { readDevice } from '../../../src/features/system/device.ts';
import type { DeviceSummary } from '../../../src/features/system/documentation.ts';
import { readStorage } from '../../../src/features/system/storage.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { runCommand } from '../../device/command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let root: string;
beforeEach(async () => (root = await temporaryFolder()));

test('a router shows the model and release that OpenWrt gives it', async () => {
  await put('tmp/sysinfo/model', 'GL.iNet GL-MT6000\n');
  await put(
    'etc/openwrt_release',
    `DISTRIB_ID='OpenWrt'\nDISTRIB_RELEASE='24.10.4'\nDISTRIB_DESCRIPTION='OpenWrt 24.10.4 r28959'\n`,
  );
  await put('etc/os-release', 'PRETTY_NAME="Something else"\n');

  expect(await summary()).toMatchObject({
    model: 'GL.iNet GL-MT6000',
    release: 'OpenWrt 24.10.4 r28959',
  });
});

test('a fifo that somebody put in the place of the model is not waited for', async () => {
  await mkdir(join(root, 'tmp/sysinfo'), { recursive: true });
  await runCommand(['mkfifo', join(root, 'tmp/sysinfo/model')]);

  expect((await summary()).kernel).not.toBe('');
});

test.each([
  [
    { 'etc/os-release': 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"\n' },
    'Debian GNU/Linux 12',
  ],
  [
    { 'etc/openwrt_release': `DISTRIB_ID='iStoreOS'\nDISTRIB_RELEASE='22.03.7'\n` },
    'iStoreOS 22.03.7',
  ],
  [{ 'etc/os-release': 'NAME=Alpine\n' }, 'Alpine'],
  [{ 'etc/os-release': '' }, undefined],
  [{}, undefined],
])('of %o the release is %s', async (files, release) => {
  for (const [path, text] of Object.entries(files)) await put(path, text);
  expect((await summary()).release).toBe(release);
});

test('the figures are those of the kernel', async () => {
  const { kernel, architecture, uptime_s, load, memory } = await summary();

  expect(kernel).toMatch(/^\d+\.\d+/);
  expect(architecture).not.toBe('');
  expect(uptime_s).toBeGreaterThan(0);
  expect(load).toHaveLength(3);
  expect(memory.available_bytes).toBeGreaterThan(0);
  expect(memory.total_bytes).toBeGreaterThan(memory.available_bytes);
});

test('a device in a folder has the space of the disk that the folder is on', async () => {
  const [item, ...others] = (await summary()).storage;

  expect(others).toEqual([]);
  expect(item).toMatchObject({ mount: '/', role: 'system' });
  expect(item?.total_bytes).toBeGreaterThan(0);
});

test('image, overlay and further disks each have their role, every disk once', async () => {
  const folders = ['rom', 'overlay', 'mnt/sda1', 'opt/docker', 'etc'];
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true });
  await put('etc/hosts', '');
  const lines = [
    `1 3 31:4 / ${root}/rom ro - squashfs /dev/root ro`,
    `2 3 31:5 / ${root}/overlay rw - f2fs /dev/loop0 rw`,
    `3 0 0:20 / / rw - overlay overlayfs:/overlay rw`,
    `4 3 8:1 / ${root}/mnt/sda1 rw - ext4 /dev/sda1 rw`,
    `5 3 8:1 /docker ${root}/opt/docker rw - ext4 /dev/sda1 rw`,
    `6 3 8:2 /x ${root}/etc/hosts rw - ext4 /dev/sdb1 rw`,
    `7 3 8:3 / ${root}/mnt/gone rw - ext4 /dev/sdc1 rw`,
    `8 3 0:21 / ${root}/tmp rw - tmpfs tmpfs rw`,
  ];
  const onDevice = (path: string): string => (path.startsWith(root) ? path : join(root, path));
  const paths = { ...pathsOf(root), onDevice, isLive: true };

  const items = await readStorage(paths, () => Promise.resolve(lines.join('\n')));

  expect(items.map(({ mount, role }) => `${role} ${mount.replace(root, '')}`)).toEqual([
    'system /rom',
    'overlay /overlay',
    'data /mnt/sda1',
  ]);
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

function pathsOf(folder: string): Paths {
  return createPaths(loadConfig({ file: '/dev/null', overrides: [`main.root=${folder}`] }));
}

function summary(): Promise<DeviceSummary> {
  const manager = { name: 'opkg', architecture: () => Promise.resolve('') };
  return readDevice({ paths: pathsOf(root), manager, version: '1.2.3' });
}
