import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { attach, canLoop, command, detach, emptyImage, MIB } from '../../support/loop-disks.ts';

const isPossible = await canLoop(['mkfs.ext4', 'mkfs.btrfs', 'mkfs.xfs', 'mkfs.vfat', 'mkswap']);

let device: Device;
let daemon: TestDaemon;
let folder: string;
const loops = new Set<string>();
let images = 0;
const mounts: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-disks-'));
  device = await createDevice();
  daemon = await startDaemon(device);
});

afterAll(async () => {
  for (const path of mounts) await command('umount', [path]).catch(() => undefined);
  for (const path of loops) await command('losetup', ['-d', path]).catch(() => undefined);
  await daemon.close();
  await device.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

test('get_block_devices answers 200 with an object of texts only', async () => {
  const answer = await daemon.get('admin/store/get_block_devices');
  const body = (await answer.json()) as Answer;
  expect(answer.status).toBe(200);
  expect({ code: body.code, msg: body.msg }).toEqual({ code: 200, msg: '' });
  for (const item of Object.values(body.data)) {
    expect(Object.keys(item).sort()).toEqual([
      'dev',
      'label',
      'mount',
      'size',
      'type',
      'uuid',
      'version',
    ]);
    expect(Object.values(item).every((value) => typeof value === 'string')).toBe(true);
  }
});

// Other tests mount disks meanwhile, so that two answers may differ.
test('disks answers with the same devices, their mounts and how full they are', () =>
  vi.waitFor(expectAlike, { timeout: 20_000 }));

async function expectAlike(): Promise<void> {
  const answer = await daemon.get('admin/system/disks');
  const body = (await answer.json()) as { code: number; data: Record<string, Disk> };
  const { data } = (await (await daemon.get('admin/store/get_block_devices')).json()) as Answer;

  expect(answer.status).toBe(200);
  expect(body.code).toBe(200);
  expect(Object.keys(body.data)).toEqual(Object.keys(data));
  for (const [name, disk] of Object.entries(body.data)) {
    const { mounts: paths, total_bytes, used_bytes, free_bytes, ...item } = disk;
    expect(item).toEqual(data[name]);
    expect(paths[0] ?? '').toBe(item.mount);
    expect(total_bytes === undefined).toBe(used_bytes === undefined);
    expect([used_bytes === undefined, free_bytes === undefined]).toEqual(
      paths.length > 0 ? [false, false] : [true, true],
    );
  }
}

const EXT4 = ['mkfs.ext4', '-q', '-F'];

describe.skipIf(!isPossible)('real loop disks', () => {
  test.each([
    { type: 'ext4', label: 'data', make: [...EXT4, '-L', 'data'], version: '1.0', sizeMib: 16 },
    { type: 'ext4', label: '', make: EXT4, version: '1.0', sizeMib: 17 },
    {
      ...{ type: 'ext4', label: 'my "d"é\\', version: '1.0', sizeMib: 16 },
      make: [...EXT4, '-L', 'my "d"é\\'],
    },
    {
      ...{ type: 'btrfs', label: 'pool', version: '', sizeMib: 128 },
      make: ['mkfs.btrfs', '-q', '-f', '-L', 'pool'],
    },
    {
      ...{ type: 'xfs', label: 'big', version: '', sizeMib: 320 },
      make: ['mkfs.xfs', '-q', '-f', '-L', 'big'],
    },
    {
      ...{ type: 'vfat', label: 'STICK', version: 'FAT32', sizeMib: 64 },
      make: ['mkfs.vfat', '-F', '32', '-n', 'STICK'],
    },
    {
      ...{ type: 'vfat', label: '', version: 'FAT16', sizeMib: 16 },
      make: ['mkfs.vfat', '-F', '16'],
    },
    {
      ...{ type: 'swap', label: 'sw', version: '1', sizeMib: 16 },
      make: ['mkswap', '-q', '-L', 'sw'],
    },
  ])(
    '$type labelled "$label", unmounted',
    async ({ type, label, make: [program = '', ...args], version, sizeMib }) => {
      const size = `${sizeMib}.00 MB`;
      const dev = await loopDisk(sizeMib);
      await command(program, [...args, dev]);
      expect(await itemOf(dev)).toMatchObject({ dev, type, label, version, size, mount: '' });
      expect((await itemOf(dev))?.uuid).toMatch(/^[0-9A-Fa-f-]{9,36}$/);
      await pull(dev);
      expect(await itemOf(dev)).toBeUndefined();
    },
  );

  test.each(['ext4', 'btrfs', 'xfs'])(
    'a mounted %s shows where it was mounted first, at once, and no longer when it is not',
    async (type) => {
      const dev = await loopDisk(320);
      await command(`mkfs.${type}`, ['-q', dev]);
      const first = join(folder, `${type} first`);
      const second = join(folder, `${type}-second`);
      await mount(dev, first);
      expect((await itemOf(dev))?.mount).toBe(first);
      await mount(dev, second);
      expect((await itemOf(dev))?.mount).toBe(first);
      const disk = await diskOf(dev);
      expect(disk?.mounts).toEqual([first, second]);
      expect((disk?.used_bytes ?? 0) + (disk?.free_bytes ?? 0)).toBeLessThanOrEqual(
        320 * 1024 ** 2,
      );
      expect(disk?.free_bytes).toBeGreaterThan(100 * 1024 ** 2);
      await command('umount', [first]);
      expect((await itemOf(dev))?.mount).toBe(second);
      await command('umount', [second]);
      expect(await itemOf(dev)).toMatchObject({ mount: '', type });
      await pull(dev);
    },
  );
});

describe.skipIf(!isPossible)('loop disks that change', () => {
  test('a disk below another one shows nothing of how full that is', async () => {
    const [lower, upper] = [await loopDisk(16), await loopDisk(320)];
    const path = join(folder, 'shared');
    const other = join(folder, 'other');
    for (const dev of [lower, upper]) {
      await command('mkfs.ext4', ['-q', dev]);
      await mount(dev, path);
    }
    expect(await diskOf(lower)).toMatchObject({ mount: path, mounts: [path] });
    expect(await diskOf(lower)).not.toHaveProperty('total_bytes');
    expect((await diskOf(upper))?.total_bytes).toBeGreaterThan(200 * MIB);
    await mount(lower, other);
    expect(await diskOf(lower)).toMatchObject({ mount: other, mounts: [path, other] });
    expect((await diskOf(lower))?.total_bytes).toBeLessThan(16 * MIB);
    for (const mounted of [other, path, path]) await command('umount', [mounted]);
    for (const dev of [lower, upper]) await pull(dev);
  });

  test('a disk without a file system is not listed until it has one', async () => {
    const dev = await loopDisk(16);
    expect(await itemOf(dev)).toBeUndefined();
    await command('mkfs.ext4', ['-q', dev]);
    expect(await itemOf(dev)).toMatchObject({ type: 'ext4', label: '' });
    await command('e2label', [dev, 'new']);
    expect(await itemOf(dev)).toMatchObject({ label: 'new' });
    await command('mkfs.vfat', ['-I', dev]);
    expect(await itemOf(dev)).toMatchObject({ type: 'vfat', label: '' });
    await pull(dev);
  });

  test('what is written through a node of the device mapper is seen, too', async () => {
    // A machine that maps nothing yet has no such folder.
    await mkdir('/dev/mapper', { recursive: true });
    const dev = await plugIn(await imageOf('before'));
    const node = `/dev/mapper/depotd-test-${basename(dev)}`;
    await command('cp', ['-a', dev, node]);
    onTestFinished(() => rm(node));
    expect(await itemOf(dev)).toMatchObject({ label: 'before' });
    await command('e2label', [node, 'mapped']);
    expect(await itemOf(dev)).toMatchObject({ label: 'mapped' });
    await pull(dev);
  });

  test('disks of one size that change places in one drive are told apart', async () => {
    const files = await Promise.all(['one', 'two'].map((label) => imageOf(label)));
    const dev = await plugIn(files[0] ?? '');
    expect((await itemOf(dev))?.label).toBe('one');
    await pull(dev);
    await command('losetup', [dev, files[1] ?? '']);
    expect((await itemOf(dev))?.label).toBe('two');
    await pull(dev);
  });

  test('disks that come and go all the time are right in each answer, to many callers at once', async () => {
    const file = await imageOf('busy');
    for (let round = 0; round < 10; round += 1) {
      const dev = await plugIn(file);
      const seen = await Promise.all(Array.from({ length: 8 }, () => itemOf(dev)));
      expect(seen.map((item) => item?.label)).toEqual(Array.from({ length: 8 }, () => 'busy'));
      await pull(dev);
      expect(await itemOf(dev)).toBeUndefined();
    }
  });

  test('a label that lies is a label and nothing more', async () => {
    const dev = await loopDisk(16);
    await command('mkfs.ext4', ['-q', '-L', 'x\nID_FS_TYPE=z', dev]);
    expect(await itemOf(dev)).toMatchObject({ type: 'ext4', label: 'x\nID_FS_TYPE=z' });
    await pull(dev);
  });
});

type Disk = Answer['data'][string] & {
  total_bytes?: number;
  used_bytes?: number;
  free_bytes?: number;
  mounts: string[];
};

interface Answer {
  code: number;
  msg: string;
  data: Record<
    string,
    {
      dev: string;
      uuid: string;
      version: string;
      label: string;
      mount: string;
      type: string;
      size: string;
    }
  >;
}

async function itemOf(dev: string): Promise<Answer['data'][string] | undefined> {
  const body = (await (await daemon.get('admin/store/get_block_devices')).json()) as Answer;
  return body.data[dev.replace('/dev/', '')];
}

async function diskOf(dev: string): Promise<Disk | undefined> {
  const answer = await daemon.get('admin/system/disks');
  const { data } = (await answer.json()) as { data: Record<string, Disk> };
  return data[dev.replace('/dev/', '')];
}

async function newImage(sizeMib: number): Promise<string> {
  const file = join(folder, `${images++}.img`);
  await emptyImage(file, sizeMib);
  return file;
}

async function imageOf(label: string): Promise<string> {
  const file = await newImage(16);
  await command('mkfs.ext4', ['-q', '-L', label, file]);
  return file;
}

async function loopDisk(sizeMib: number): Promise<string> {
  return plugIn(await newImage(sizeMib));
}

async function plugIn(file: string): Promise<string> {
  const dev = await attach(file);
  loops.add(dev);
  return dev;
}

async function pull(dev: string): Promise<void> {
  await detach(dev);
  loops.delete(dev);
}

async function mount(dev: string, path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await command('mount', [dev, path]);
  mounts.push(path);
}
