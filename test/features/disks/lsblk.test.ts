import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { parseLsblk } from '../../../src/features/disks/lsblk.ts';

function captured(name: string): string {
  return readFileSync(join(import.meta.dirname, 'lsblk', `${name}.json`), 'utf8');
}

describe('what lsblk told of three machines', () => {
  test('LVM: the volume below its four disks is one device, under its kernel name and its mapper path', () => {
    const devices = parseLsblk(captured('simple-lvm')) ?? [];
    expect(devices.filter(({ name }) => name === 'dm-0')).toEqual([
      {
        name: 'dm-0',
        path: '/dev/mapper/vg_foo.4059-lv_foo.4059',
        device: '253:0',
        sizeBytes: 33_554_432,
        type: '',
        version: '',
        label: '',
        uuid: '',
        isWhole: false,
      },
    ]);
    expect(devices.find(({ name }) => name === 'loop0')?.isWhole).toBe(false);
  });

  test('NVMe: its partitions are devices, and the disk is only what holds them', () => {
    const devices = parseLsblk(captured('simple-nvme')) ?? [];
    expect(
      devices
        .filter(({ name }) => name.startsWith('nvme'))
        .map(({ name, isWhole }) => [name, isWhole]),
    ).toEqual([
      ['nvme0n1', true],
      ['nvme0n1p1', false],
      ['nvme0n1p2', false],
      ['nvme0n1p3', false],
    ]);
    expect(new Set(devices.map(({ name }) => name)).size).toBe(devices.length);
  });

  test('several disks: what udev knows of each is taken over', () => {
    const devices = parseLsblk(captured('multi-devs-bcachefs')) ?? [];
    expect(devices.find(({ name }) => name === 'sda1')).toMatchObject({
      type: 'vfat',
      version: 'FAT16',
      label: 'EFI',
      uuid: 'F2BC-BFEC',
      sizeBytes: 209_715_200,
    });
    const members = devices.filter(({ type }) => type === 'bcachefs');
    expect(members.length).toBeGreaterThan(1);
    expect(new Set(members.map(({ uuid }) => uuid)).size).toBe(1);
  });
});

test.each([
  ['', undefined],
  ["lsblk: unrecognized option '--json'", undefined],
  ['[]', undefined],
  ['{"blockdevices":[]}', []],
])('the text %j is read as %j', (text, expected) => {
  expect(parseLsblk(text)).toEqual(expected);
});

test('numbers that come as texts, and columns that are missing, are understood', () => {
  const listing = {
    blockdevices: [
      {
        name: 'mmcblk0',
        kname: 'mmcblk0',
        size: '62537072640',
        children: [{ name: 'mmcblk0p1', kname: 'mmcblk0p1', size: '1', fstype: 'ext4' }],
      },
    ],
  };
  expect(parseLsblk(JSON.stringify(listing))).toMatchObject([
    { name: 'mmcblk0', path: '/dev/mmcblk0', sizeBytes: 62_537_072_640, type: '', isWhole: true },
    { name: 'mmcblk0p1', path: '/dev/mmcblk0p1', sizeBytes: 1, type: 'ext4', isWhole: false },
  ]);
});
