import { describe, expect, test } from 'vitest';

import type { MountEntry } from '../../../src/device/disk/mounts.ts';
import type { Location } from '../../../src/features/container-data/locations.ts';
import {
  isOnSystem,
  reasonsAgainstChange,
  reasonsAgainstMove,
  type MoveFacts,
} from '../../../src/features/container-data/reasons-against.ts';

const GIB = 1024 ** 3;
const ROOT: MountEntry = {
  id: 1,
  parent: 0,
  device: '8:1',
  root: '/',
  path: '/',
  isReadOnly: false,
  type: 'ext4',
  source: '/dev/sda1',
};
const DISK: MountEntry = { ...ROOT, id: 2, device: '8:17', path: '/mnt/disk', source: '/dev/sdb1' };

function place(path: string, mount: MountEntry, more: Partial<Location> = {}): Location {
  const inside = mount.path === '/' ? path : path.slice(mount.path.length) || '/';
  return {
    path,
    real: path,
    kind: 'folder',
    mount,
    location: { device: mount.device, path: inside },
    freeBytes: 10 * GIB,
    freeInodes: 1_000_000,
    used: undefined,
    ...more,
  };
}

function facts(more: Partial<MoveFacts> = {}): MoveFacts {
  return {
    setting: {
      path: '/opt/docker',
      file: '/etc/config/dockerd',
      kind: 'uci',
      elsewhere: undefined,
      uncommittedFile: undefined,
    },
    engine: {
      kind: 'answers',
      dataRoot: '/opt/docker',
      driver: 'overlay2',
      leavesContainers: false,
    },
    driver: 'overlay2',
    isElsewhere: false,
    serviceManagerFault: undefined,
    copierFault: undefined,
    source: place('/opt/docker', ROOT),
    target: place('/mnt/disk/docker', DISK),
    system: [ROOT],
    mountsInSource: [],
    mountsInTarget: [],
    subvolumes: [],
    need: { bytes: GIB, inodes: 1000, heldBytes: GIB },
    longPath: undefined,
    ...more,
  };
}

const onDisk = (mount: Partial<MountEntry>, more: Partial<Location> = {}): Partial<MoveFacts> => ({
  target: place('/mnt/disk/docker', { ...DISK, ...mount }, more),
});

test('a folder on a mounted disk with room is good', () => {
  expect(reasonsAgainstMove(facts())).toEqual([]);
  expect(reasonsAgainstMove(facts({ engine: { kind: 'absent' }, need: undefined }))).toEqual([]);
});

test.each(['My Disk', "Bob's", '数据', 'Größe', 'a(b) {c} $d #e &f', 'x'.repeat(200)])(
  'a folder named %s is good',
  (name) => {
    expect(reasonsAgainstMove(facts({ target: place(`/mnt/${name}/docker`, DISK) }))).toEqual([]);
  },
);

test.each<[string, Partial<MoveFacts>, string]>([
  ['the same path', { target: place('/opt/docker', ROOT) }, 'is where the container data is'],
  [
    'the same place by a bind mount',
    {
      target: place('/mnt/disk/docker', DISK, { location: { device: '8:1', path: '/opt/docker' } }),
    },
    'is where the container data is',
  ],
  ['inside the data', { target: place('/opt/docker/new', ROOT) }, 'is inside /opt/docker'],
  [
    'inside the data by a bind mount',
    { target: place('/mnt/b/new', DISK, { location: { device: '8:1', path: '/opt/docker/new' } }) },
    'is inside /opt/docker',
  ],
  ['around the data', { target: place('/opt', ROOT) }, '/opt/docker is inside /opt'],
  ['the system disk', { target: place('/mnt/other', ROOT) }, 'nothing is mounted at /mnt/other'],
  ['a file', { target: place('/mnt/disk/file', DISK, { kind: 'file' }) }, 'no folder'],
  ['a disk that is read-only', onDisk({ isReadOnly: true }), 'mounted read-only'],
  ...[':', ',', '\\', '[', '%', '"', '\t', '\u007f'].map(
    (character): [string, Partial<MoveFacts>, string] => [
      `a name with ${JSON.stringify(character)} in it`,
      { target: place(`/mnt/disk/a${character}b`, DISK) },
      `has ${JSON.stringify(character)} in it`,
    ],
  ),
  [
    'a name that is fine, and leads to one that is not',
    { target: place('/mnt/disk/link', DISK, { real: '/mnt/disk/a[b' }) },
    'has "[" in it',
  ],
  [
    'a path that is too long for mount options',
    { target: place(`/mnt/disk/${'ä'.repeat(346)}`, DISK) },
    'has more than 700 bytes',
  ],
  [
    'a path in the data that cannot be copied',
    { longPath: { folder: '/opt/docker', start: 'volumes/deep' } },
    'a path in /opt/docker has more than 4095 bytes, which cannot be copied: volumes/deep…',
  ],
  [
    'something mounted below',
    { mountsInTarget: [{ ...DISK, path: '/mnt/disk/docker/sub' }] },
    '/mnt/disk/docker/sub is mounted below',
  ],
  [
    'too little space',
    onDisk({}, { freeBytes: 1.04 * GIB }),
    'too little space: 1.04 GiB are free, 1.05 GiB are needed',
  ],
  [
    'too few inodes',
    onDisk({}, { freeInodes: 1049 }),
    'too few inodes: 1049 are free, 1050 are needed',
  ],
  ['no rsync', { copierFault: 'there is no rsync on this device' }, 'there is no rsync'],
  [
    'nobody who starts the engine',
    { serviceManagerFault: 'cannot tell who starts it' },
    'cannot tell who starts it',
  ],
  [
    'an engine that is configured elsewhere',
    { setting: { ...facts().setting, elsewhere: '/etc/my.json' } },
    'alt_config_file in /etc/config/dockerd names /etc/my.json',
  ],
  ['an engine that works elsewhere', { isElsewhere: true }, 'it is configured elsewhere'],
  [
    'changes that are not committed',
    { setting: { ...facts().setting, uncommittedFile: '/tmp/.uci/dockerd' } },
    'not committed',
  ],
  [
    'no data',
    { source: place('/opt/docker', ROOT, { kind: 'nothing' }) },
    'there is no container data',
  ],
  [
    'a disk mounted inside the data',
    { mountsInSource: [{ ...DISK, path: '/opt/docker/volumes' }] },
    '/opt/docker/volumes is mounted inside the container data',
  ],
  [
    'a subvolume inside the data',
    { subvolumes: ['/opt/docker/volumes/x'] },
    'is a btrfs subvolume',
  ],
  ['layers that are snapshots', { driver: 'btrfs' }, 'the storage driver btrfs'],
])('%s is bad, and this is the only reason given', (_, more, reason) => {
  const reasons = reasonsAgainstMove(facts(more)).filter(
    (text) => !text.startsWith('nothing is mounted') || reason.startsWith('nothing'),
  );
  expect(reasons).toEqual([expect.stringContaining(reason)]);
});

test.each([
  'vfat',
  'exfat',
  'ntfs3',
  'fuseblk',
  'overlay',
  'tmpfs',
  'nfs4',
  'cifs',
  'fuse.sshfs',
  '9p',
  'squashfs',
])('%s cannot hold layers', (type) => {
  expect(reasonsAgainstMove(facts(onDisk({ type })))).toEqual([
    expect.stringContaining(`a file system of the type ${type}`),
  ]);
});

test.each(['ext4', 'btrfs', 'xfs', 'f2fs'])('%s can', (type) => {
  expect(reasonsAgainstMove(facts(onDisk({ type })))).toEqual([]);
});

test('every reason is given at once', () => {
  expect(
    reasonsAgainstMove(
      facts({
        ...onDisk({ type: 'vfat', isReadOnly: true }, { freeBytes: 0 }),
        copierFault: 'no rsync',
      }),
    ),
  ).toHaveLength(4);
});

test("what containers have mounted below their data is in nobody's way", () => {
  const mountsInSource = ['overlay', 'tmpfs', 'nsfs'].map((type) => ({
    ...DISK,
    device: '0:99',
    type,
    path: `/opt/docker/${type}`,
  }));
  expect(
    reasonsAgainstMove(
      facts({ mountsInSource: [...mountsInSource, { ...ROOT, path: '/opt/docker/overlay2' }] }),
    ),
  ).toEqual([]);
});

describe('only changing the place', () => {
  test('needs no room, no rsync and no data', () => {
    expect(
      reasonsAgainstChange(
        facts({
          ...onDisk({}, { freeBytes: 0 }),
          copierFault: 'no rsync',
          source: place('/opt/docker', ROOT, { kind: 'nothing' }),
        }),
        { isDataRoot: false },
      ),
    ).toEqual([]);
  });

  test('may lead back to an old data root on the system disk, and not to just any folder there', () => {
    const back = facts({ target: place('/var/lib/docker', ROOT) });
    expect(reasonsAgainstChange(back, { isDataRoot: true })).toEqual([]);
    expect(reasonsAgainstChange(back, { isDataRoot: false })).toEqual([
      expect.stringContaining('nothing is mounted'),
    ]);
  });
});

test.each<[string, MountEntry, boolean]>([
  ['the root', ROOT, true],
  ['a bind mount of it', { ...ROOT, id: 9, path: '/mnt/bind', root: '/opt' }, true],
  ['the overlay below the root', { ...DISK, path: '/overlay' }, true],
  ['another disk', { ...DISK, device: '8:33' }, false],
])('data on %s is on the system disk: %s', (_, mount, expected) => {
  expect(
    isOnSystem(place(`${mount.path}/docker`, mount), [ROOT, { ...DISK, path: '/overlay' }]),
  ).toBe(expected);
});
