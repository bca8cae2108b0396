import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';

const command = promisify(execFile);
const MIB = 1024 ** 2;
/** Loop disks are root's to make, not every container may, and not every host has all the tools. */
const canLoop = await tryLoop();

let device: Device;
let daemon: TestDaemon;
let folder: string;
const loops: string[] = [];
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
    expect(Object.keys(item).sort()).toEqual(['dev', 'label', 'mount', 'size', 'type', 'uuid', 'version']);
    expect(Object.values(item).every((value) => typeof value === 'string')).toBe(true);
  }
});

describe.skipIf(!canLoop)('real loop disks', () => {
  test.each([
    { type: 'ext4', label: 'data', make: ['mkfs.ext4', '-q', '-F', '-L', 'data'], version: '1.0', sizeMib: 16, size: '16.00 MB' },
    { type: 'ext4', label: '', make: ['mkfs.ext4', '-q', '-F'], version: '1.0', sizeMib: 17, size: '17.00 MB' },
    { type: 'ext4', label: 'my "d"é\\', make: ['mkfs.ext4', '-q', '-F', '-L', 'my "d"é\\'], version: '1.0', sizeMib: 16, size: '16.00 MB' },
    { type: 'btrfs', label: 'pool', make: ['mkfs.btrfs', '-q', '-f', '-L', 'pool'], version: '', sizeMib: 128, size: '128.00 MB' },
    { type: 'xfs', label: 'big', make: ['mkfs.xfs', '-q', '-f', '-L', 'big'], version: '', sizeMib: 320, size: '320.00 MB' },
    { type: 'vfat', label: 'STICK', make: ['mkfs.vfat', '-F', '32', '-n', 'STICK'], version: 'FAT32', sizeMib: 64, size: '64.00 MB' },
    { type: 'vfat', label: '', make: ['mkfs.vfat', '-F', '16'], version: 'FAT16', sizeMib: 16, size: '16.00 MB' },
    { type: 'swap', label: 'sw', make: ['mkswap', '-q', '-L', 'sw'], version: '1', sizeMib: 16, size: '16.00 MB' },
  ])('$type labelled "$label", unmounted', async ({ type, label, make: [program = '', ...args], version, sizeMib, size }) => {
    const dev = await loopDisk(sizeMib);
    await command(program, [...args, dev]);
    expect(await itemOf(dev)).toMatchObject({ dev, type, label, version, size, mount: '' });
    expect((await itemOf(dev))?.uuid).toMatch(/^[0-9A-Fa-f-]{9,36}$/);
    await detach(dev);
    expect(await itemOf(dev)).toBeUndefined();
  });

  test.each(['ext4', 'btrfs', 'xfs'])('a mounted %s shows where it was mounted first, at once, and no longer when it is not', async (type) => {
    const dev = await loopDisk(320);
    await command(`mkfs.${type}`, ['-q', dev]);
    const first = join(folder, `${type} first`);
    const second = join(folder, `${type}-second`);
    await mount(dev, first);
    expect((await itemOf(dev))?.mount).toBe(first);
    await mount(dev, second);
    expect((await itemOf(dev))?.mount).toBe(first);
    await command('umount', [first]);
    expect((await itemOf(dev))?.mount).toBe(second);
    await command('umount', [second]);
    expect(await itemOf(dev)).toMatchObject({ mount: '', type });
    await detach(dev);
  });

});

describe.skipIf(!canLoop)('loop disks that change', () => {
  test('a disk without a file system is not listed until it has one', async () => {
    const dev = await loopDisk(16);
    expect(await itemOf(dev)).toBeUndefined();
    await command('mkfs.ext4', ['-q', dev]);
    expect(await itemOf(dev)).toMatchObject({ type: 'ext4', label: '' });
    await command('e2label', [dev, 'new']);
    expect(await itemOf(dev)).toMatchObject({ label: 'new' });
    await command('mkfs.vfat', ['-I', dev]);
    expect(await itemOf(dev)).toMatchObject({ type: 'vfat', label: '' });
    await detach(dev);
  });

  test('disks of one size that change places in one drive are told apart', async () => {
    const files = await Promise.all(['one', 'two'].map((label) => imageOf(label)));
    const dev = await attach(files[0] ?? '');
    expect((await itemOf(dev))?.label).toBe('one');
    await command('losetup', ['-d', dev]);
    await command('losetup', [dev, files[1] ?? '']);
    expect((await itemOf(dev))?.label).toBe('two');
    await detach(dev);
  });

  test('disks that come and go all the time are right in each answer, to many callers at once', async () => {
    const file = await imageOf('busy');
    for (let round = 0; round < 10; round += 1) {
      const dev = await attach(file);
      const seen = await Promise.all(Array.from({ length: 8 }, () => itemOf(dev)));
      expect(seen.map((item) => item?.label)).toEqual(Array.from({ length: 8 }, () => 'busy'));
      await detach(dev);
      expect(await itemOf(dev)).toBeUndefined();
    }
  });

  test('a label that lies is a label and nothing more', async () => {
    const dev = await loopDisk(16);
    await command('mkfs.ext4', ['-q', '-L', 'x\nID_FS_TYPE=z', dev]);
    expect(await itemOf(dev)).toMatchObject({ type: 'ext4', label: 'x\nID_FS_TYPE=z' });
    await detach(dev);
  });
});

interface Answer {
  code: number;
  msg: string;
  data: Record<string, { dev: string; uuid: string; version: string; label: string; mount: string; type: string; size: string }>;
}

async function itemOf(dev: string): Promise<Answer['data'][string] | undefined> {
  const body = (await (await daemon.get('admin/store/get_block_devices')).json()) as Answer;
  return body.data[dev.replace('/dev/', '')];
}

async function emptyImage(sizeMib: number): Promise<string> {
  const file = join(folder, `${loops.length}-${Math.random()}.img`);
  await writeFile(file, '');
  await truncate(file, sizeMib * MIB);
  return file;
}

async function imageOf(label: string): Promise<string> {
  const file = await emptyImage(16);
  await command('mkfs.ext4', ['-q', '-L', label, file]);
  return file;
}

async function loopDisk(sizeMib: number): Promise<string> {
  return attach(await emptyImage(sizeMib));
}

async function attach(file: string): Promise<string> {
  const dev = (await command('losetup', ['-f', '--show', file])).stdout.trim();
  loops.push(dev);
  return dev;
}

async function detach(dev: string): Promise<void> {
  await command('losetup', ['-d', dev]);
  loops.splice(loops.indexOf(dev), 1);
}

async function mount(dev: string, path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await command('mount', [dev, path]);
  mounts.push(path);
}

async function tryLoop(): Promise<boolean> {
  const file = join(tmpdir(), `depotd-loop-${process.pid}`);
  try {
    for (const tool of ['mkfs.ext4', 'mkfs.btrfs', 'mkfs.xfs', 'mkfs.vfat', 'mkswap']) await command('sh', ['-c', 'command -v "$1"', 'sh', tool]);
    await writeFile(file, Buffer.alloc(MIB));
    const { stdout } = await command('losetup', ['-f', '--show', file]);
    await command('losetup', ['-d', stdout.trim()]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(file, { force: true });
  }
}
