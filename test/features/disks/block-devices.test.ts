import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import {
  createBlockDevices,
  mountsOfDevices,
  parsePartitions,
} from '../../../src/features/disks/block-devices.ts';
import { createDisks } from '../../../src/features/disks/disks.ts';
import { createLog } from '../../../src/log.ts';
import { parseBlkid, parseBlockInfo } from '../../../src/features/disks/content-probe.ts';
import { parseMountTable } from '../../../src/device/disk/mounts.ts';

describe('on a host whose tools are older, or fewer', () => {
  let folder: string;

  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'depotd-tools-'))));
  afterEach(() => rm(folder, { recursive: true }));

  test('an lsblk without JSON is read all the same', async () => {
    await tool('lsblk', `echo "lsblk: unrecognized option '--json'" >&2; exit 1`);
    const namesWith = async (path: string): Promise<string[]> =>
      (await createBlockDevices({ PATH: path }).list()).map(({ name }) => name).sort();
    // Other tests attach and detach disks meanwhile, so that two lists may differ.
    await vi.waitFor(
      async () => expect(await namesWith(folder)).toEqual(await namesWith(process.env.PATH ?? '')),
      { timeout: 20_000 },
    );
  });

  test('a disk whose label an older lsblk prints in a way that nobody can read is listed', async () => {
    const partitions = parsePartitions(await readFile('/proc/partitions', 'utf8'));
    const disk = partitions.find(({ device }) => !/^[17]:/.test(device));
    const line = (name = '', label: string): string =>
      `echo 'NAME="${name}" TYPE="disk" SIZE="1024" FSTYPE="ext4" UUID="" LABEL="${label}"'`;
    await tool(
      'lsblk',
      `case "$*" in *json*) exit 1 ;; esac\n${line(disk?.name, '100%')}\n${line('sdx', 'plain')}`,
    );
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    onTestFinished(() => void vi.unstubAllEnvs());

    const devices = await createBlockDevices({ PATH: process.env.PATH ?? '' }).list();

    expect(devices.filter(({ name }) => name === 'sdx' || name === disk?.name)).toHaveLength(2);
    expect(devices).toContainEqual(expect.objectContaining({ name: 'sdx', label: 'plain' }));
  });

  test('an lsblk that breaks off and ends well counts as none', async () => {
    await tool('lsblk', 'echo "{"');
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const host = createBlockDevices({ PATH: process.env.PATH ?? '' });
    const disks = createDisks({ host, log: createLog('silent') });
    onTestFinished(disks.close);

    const kinds = Object.values(await disks.all()).flatMap((disk) =>
      Object.values(disk).map((value) => typeof value),
    );
    expect(kinds.filter((kind) => kind !== 'string')).toEqual([]);
    expect((await host.list()).map(({ name }) => name)).not.toContain('');
  });

  test('where blkid does not probe, `block info` is asked', async () => {
    await tool('lsblk', `echo '{"blockdevices":[{"name":"sdx1","kname":"sdx1","size":1024}]}'`);
    await tool('blkid', 'exit 1');
    await tool(
      'block',
      `[ "$*" = info ] && echo '/dev/sdx1: UUID="u-1" LABEL="my "disk"" VERSION="1.0" MOUNT="/mnt" TYPE="ext4"'`,
    );
    expect(await createBlockDevices({ PATH: `${folder}:/bin` }).list()).toEqual([
      {
        name: 'sdx1',
        path: '/dev/sdx1',
        sizeBytes: 1024,
        type: 'ext4',
        version: '1.0',
        label: 'my "disk"',
        uuid: 'u-1',
        mounts: [],
      },
    ]);
  });

  test('with no tool at all the kernel still tells names, sizes and mounts', async () => {
    const devices = await createBlockDevices({ PATH: folder }).list();
    expect(devices.length).toBeGreaterThan(0);
    expect(
      devices.every(({ name, path, sizeBytes }) => path === `/dev/${name}` && sizeBytes >= 0),
    ).toBe(true);
  });

  async function tool(name: string, body: string): Promise<void> {
    await writeFile(join(folder, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    await symlink('/bin/sh', join(folder, 'sh')).catch(() => undefined);
  }
});

test('what blkid prints is read back byte for byte', () => {
  // blkid 2.38.1 -p -o udev, of an ext4 labelled with a line break.
  const output =
    'ID_FS_LABEL=n1_TYPE=z\nID_FS_LABEL_ENC=n1\\x0aTYPE=z\nID_FS_UUID=7332f542\nID_FS_UUID_ENC=7332f542\nID_FS_VERSION=1.0\nID_FS_BLOCK_SIZE=1024\nID_FS_TYPE=ext4\nID_FS_USAGE=filesystem\n';
  expect(parseBlkid(output)).toEqual({
    type: 'ext4',
    version: '1.0',
    label: 'n1\nTYPE=z',
    uuid: '7332f542',
  });
  expect(parseBlkid('ID_FS_LABEL_ENC=\\xc3\\xa9é\nID_FS_TYPE=vfat\n').label).toBe('éé');
});

test('what `block info` prints is read by device, with what it does not say left empty', () => {
  const output =
    '/dev/mmcblk0p1: UUID="84173db5" VERSION="4.0" MOUNT="/rom" TYPE="squashfs"\n/dev/loop0: TYPE="f2fs"\nblock: extroot: not configured\n';
  expect([...parseBlockInfo(output)]).toEqual([
    ['/dev/mmcblk0p1', { type: 'squashfs', version: '4.0', label: '', uuid: '84173db5' }],
    ['/dev/loop0', { type: 'f2fs', version: '', label: '', uuid: '' }],
  ]);
});

test('mounts of devices are read with their blanks, those of anything else are left out', () => {
  // The first line is the example of proc(5).
  const text =
    '36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n22 27 0:21 / /proc rw - proc proc rw\n40 35 0:44 / /mnt/a\\040b\\303\\251 rw - btrfs /dev/sda1 rw\n';
  const mounts = parseMountTable(text);
  expect(mounts.map(({ path }) => path)).toEqual(['/mnt2', '/proc', '/mnt/a bé']);
  expect(mountsOfDevices(mounts)).toMatchObject([
    { id: 36, device: '98:0', root: '/mnt1', source: '/dev/root', path: '/mnt2', type: 'ext3' },
    { id: 40, device: '0:44', root: '/', source: '/dev/sda1', path: '/mnt/a bé', type: 'btrfs' },
  ]);
});

test('partitions are read with sizes in bytes', () => {
  expect(
    parsePartitions(
      'major minor  #blocks  name\n\n 254        0  268435456 vda\n 179        1       3072 mmcblk0p1\n',
    ),
  ).toEqual([
    { device: '254:0', name: 'vda', sizeBytes: 274_877_906_944 },
    { device: '179:1', name: 'mmcblk0p1', sizeBytes: 3_145_728 },
  ]);
});
