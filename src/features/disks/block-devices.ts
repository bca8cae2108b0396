import { watch } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { createConcurrencyLimit } from '../../device/concurrency-limit.ts';
import { DepotError } from '../../errors.ts';
import {
  BLOCK_INFO,
  blkidCommand,
  parseBlkid,
  parseBlockInfo,
  type Content,
} from './content-probe.ts';
import type { RunResult } from '../../device/command.ts';
import { run } from '../../device/exec.ts';
import { LSBLK, parseLsblk, type ListedDevice } from './lsblk.ts';
import { isInSight, readMounts, type MountEntry } from '../../device/disk/mounts.ts';

const LIMITS = { timeoutMs: 10_000, maxBytes: 4 * 1024 ** 2 };
/** Probes that run at a time. */
const MOST_PROBES = 4;

/** One block device, as the kernel and its own first blocks tell it. */
export interface BlockDevice extends Content {
  /** Kernel name: `sda1`, `nvme0n1p2`, `dm-0`. */
  name: string;
  /** Device node: `/dev/sda1`, `/dev/mapper/vg-data`. */
  path: string;
  sizeBytes: number;
  /** Where the device is mounted, the oldest mount first. */
  mounts: string[];
  /** The first of them that its path leads to. */
  seenAt: string | undefined;
}

export type BlockDeviceHost = ReturnType<typeof createBlockDevices>;

/**
 * By lsblk; by systeminformation, which reads what an older lsblk prints; else by /proc/partitions.
 * What lsblk leaves open, since OpenWrt has no udev, is probed from the devices.
 */
export function createBlockDevices(environment: Record<string, string>) {
  const call: Call = (argv) => run({ argv, environment }, LIMITS);
  return {
    /** Changes when a device comes, goes, changes size or medium, or is (un)mounted. */
    fingerprint: readFingerprint,
    /** @throws DepotError internal if the system does not tell */
    list: async (): Promise<BlockDevice[]> => {
      const devices = await listDevices(call);
      const contents = await probe(
        devices.filter(({ type, isWhole }) => type === '' && !isWhole),
        call,
      );
      const mounts = await readDeviceMounts();
      return devices.map((device) => describe(device, contents.get(device.path), mounts));
    },
    /** Calls back once, when somebody writes to a node (mkfs, a label). @returns what ends it */
    onceWritten: async (onWrite: () => void): Promise<() => void> => {
      // Without udev they are no links to the kernel's nodes, and written to by themselves.
      const mapped = await readdir('/dev/mapper').catch(() => []);
      const kernelNames = (await readPartitions()).map(({ name }) => name);
      return watchNodes([...kernelNames, ...mapped.map((name) => `mapper/${name}`)], onWrite);
    },
  };
}

type Call = (argv: [string, ...string[]]) => Promise<RunResult>;

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

/**
 * Read anew: some 0.2 ms. Node cannot wait for POLLPRI on mountinfo, and before Linux 6.12 a watch
 * on /dev wakes with every write to /dev/null. Mounts of other things than devices do not count.
 */
async function readFingerprint(): Promise<string> {
  const [partitions, mounts] = await Promise.all([readPartitions(), readDeviceMounts()]);
  // `diskseq` counts the media that a drive has seen: so two of one size differ. Linux 5.15.
  const sequences = await Promise.all(
    partitions.map(({ name }) => readText(`/sys/block/${name.replaceAll('/', '!')}/diskseq`)),
  );
  return JSON.stringify([partitions, mounts, sequences]);
}

type DeviceMount = MountEntry & { isInSight: boolean };

async function readDeviceMounts(): Promise<DeviceMount[]> {
  const all = await readMounts().catch(() => []);
  return mountsOfDevices(all).map((mount) => ({ ...mount, isInSight: isInSight(mount, all) }));
}

export function mountsOfDevices(mounts: readonly MountEntry[]): MountEntry[] {
  return mounts.filter(({ source }) => source.startsWith('/dev/'));
}

async function readPartitions(): Promise<Partition[]> {
  return parsePartitions(await readText('/proc/partitions'));
}

/** One line of /proc/partitions (proc(5)): every block device with a medium in it. */
export interface Partition {
  /** MAJOR:MINOR. */
  device: string;
  name: string;
  sizeBytes: number;
}

/** Sizes stand there in KiB. */
export function parsePartitions(text: string): Partition[] {
  return Array.from(
    text.matchAll(/^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)$/gm),
    ([, major = '', minor = '', kib = '', name = '']) => ({
      device: `${major}:${minor}`,
      name: name.replaceAll('!', '/'),
      sizeBytes: Number(kib) * 1024,
    }),
  );
}

async function listDevices(call: Call): Promise<ListedDevice[]> {
  const { stdout, exitCode } = await call(LSBLK);
  const listed = exitCode === 0 ? parseLsblk(stdout) : undefined;
  if (listed !== undefined) return listed;
  const partitions = await readPartitions();
  const old = await listWithOldLsblk(partitions);
  // The library leaves out devices with labels that it cannot read, such as `100%`. The major
  // number 1 is that of RAM disks (devices.txt of Linux).
  const others = partitions.filter(
    ({ name, device }) => !device.startsWith('1:') && !old.some((one) => one.name === name),
  );
  if (old.length === 0 && partitions.length === 0) {
    const message = 'cannot list block devices: lsblk is missing and /proc/partitions is empty';
    throw new DepotError('internal', message);
  }
  const unknown = { type: '', version: '', label: '', uuid: '', isWhole: false };
  return [...old, ...others.map((one) => ({ ...one, ...unknown, path: `/dev/${one.name}` }))];
}

/** lsblk before util-linux 2.27 has no JSON: for its other form a library is loaded. */
async function listWithOldLsblk(partitions: readonly Partition[]): Promise<ListedDevice[]> {
  const { blockDevices } = await import('systeminformation/lib/filesystem.js');
  // What is no line of lsblk's becomes a device without anything.
  const listed = (await blockDevices()).filter(({ label }) => typeof label === 'string');
  return Promise.all(
    listed.map(async ({ name, fsType: type, label, uuid, size: sizeBytes }) => {
      const mapped = `/dev/mapper/${name}`;
      const node = await realpath(mapped).catch(() => undefined);
      const kernelName = node === undefined ? name : basename(node);
      const device = partitions.find((each) => each.name === kernelName)?.device ?? '';
      const path = node === undefined ? `/dev/${name}` : mapped;
      const isWhole = listed.some(
        (other) => other.type === 'part' && other.name !== name && other.name.startsWith(name),
      );
      return { name: kernelName, path, device, sizeBytes, type, version: '', label, uuid, isWhole };
    }),
  );
}

/** By blkid, or, if that is missing or busybox's, by OpenWrt's `block` for all. */
async function probe(devices: readonly ListedDevice[], call: Call): Promise<Map<string, Content>> {
  const contents = new Map<string, Content>();
  const limit = createConcurrencyLimit({
    most: MOST_PROBES,
    mostWaiting: devices.length,
    busy: 'cannot probe block devices: too many of them',
  });
  let refusals = 0;
  const probeOne = async (path: string): Promise<void> => {
    const { exitCode, stdout } = await call(blkidCommand(path));
    if (exitCode === 0) contents.set(path, parseBlkid(stdout));
    // 2: nothing found, 8: ambivalent; else this blkid does not probe, or the device has gone.
    else if (exitCode !== 2 && exitCode !== 8) refusals += 1;
  };
  await Promise.all(devices.map(({ path }) => limit(() => probeOne(path))));
  return refusals > 0 && contents.size === 0
    ? parseBlockInfo((await call(BLOCK_INFO)).stdout)
    : contents;
}

function describe(
  device: ListedDevice,
  content: Content | undefined,
  mounts: readonly DeviceMount[],
): BlockDevice {
  const { name, path, sizeBytes } = device;
  const own = mounts.filter(
    (mount) =>
      mount.source.split(':').includes(path) ||
      mount.source === `/dev/${name}` ||
      (device.device !== '' && mount.device === device.device),
  );
  const known = device.type === '' && content !== undefined ? content : device;
  const { version, label, uuid } = known;
  // A device that may not be read still shows what it is mounted as.
  const type = known.type === '' ? (own[0]?.type ?? '') : known.type;
  const paths = [...new Set(own.map((mount) => mount.path))];
  const seenAt = own.find((mount) => mount.isInSight)?.path;
  return { name, path, sizeBytes, type, version, label, uuid, mounts: paths, seenAt };
}

/** A mounted file system writes through no node: what does is mkfs, a label, dd. */
function watchNodes(names: readonly string[], onWrite: () => void): () => void {
  const watchers = names.flatMap((name) => {
    try {
      return [watch(`/dev/${name}`, { persistent: false }, written).on('error', () => undefined)];
    } catch {
      // The node has gone, which the fingerprint shows; or there are no watches, and age counts.
      return [];
    }
  });
  const end = (): void => {
    for (const watcher of watchers) watcher.close();
  };
  function written(): void {
    end();
    onWrite();
  }
  return end;
}
