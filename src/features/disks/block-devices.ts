import { watch } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
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
import type { BlockDevice, BlockDeviceHost } from './port.ts';
import { LSBLK, parseLsblk, type ListedDevice } from './lsblk.ts';
import { parseMounts, type Mount } from '../../device/disk/mounts.ts';
import { parsePartitions } from './partitions.ts';

const LIMITS = { timeoutMs: 10_000, maxBytes: 4 * 1024 ** 2 };
/** Probes that run at a time. */
const MOST_PROBES = 4;

/**
 * The block devices of this machine. lsblk lists them; if it is too old for JSON,
 * systeminformation reads what it prints instead; if there is none, /proc/partitions does. What
 * lsblk leaves open (it asks udev's database, and OpenWrt has no udev) is probed from the devices
 * themselves.
 */
export function createBlockDevices(environment: Record<string, string>): BlockDeviceHost {
  const call = (argv: [string, ...string[]]): Promise<RunResult> =>
    run({ argv, environment, cwd: '/' }, LIMITS);
  return {
    fingerprint: readFingerprint,
    list: async () => {
      const devices = await listDevices(call);
      const contents = await probe(
        devices.filter(({ type, isWhole }) => type === '' && !isWhole),
        call,
      );
      const mounts = parseMounts(await readText('/proc/self/mountinfo'));
      return devices.map((device) => describe(device, contents.get(device.path), mounts));
    },
    onceWritten: watchNodes,
  };
}

type Call = (argv: [string, ...string[]]) => Promise<RunResult>;

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

/**
 * The kernel's tables, read anew: some 0.2 ms. Node cannot wait for POLLPRI on mountinfo, and a
 * watch on /dev itself would, on kernels before 6.12, wake the daemon with every write to
 * /dev/null. Mounts of other things than devices (a container's overlays) do not count.
 */
async function readFingerprint(): Promise<string> {
  const [partitions, mountinfo] = await Promise.all([
    readText('/proc/partitions'),
    readText('/proc/self/mountinfo'),
  ]);
  // Counts the media that a drive has seen, so that two of one size are told apart; since Linux
  // 5.15.
  const sequences = await Promise.all(
    parsePartitions(partitions).map(({ name }) =>
      readText(`/sys/block/${name.replaceAll('/', '!')}/diskseq`),
    ),
  );
  return JSON.stringify([partitions, parseMounts(mountinfo), sequences]);
}

async function listDevices(call: Call): Promise<ListedDevice[]> {
  const { stdout, exitCode } = await call(LSBLK);
  const listed = exitCode === 0 ? parseLsblk(stdout) : undefined;
  if (listed !== undefined) return listed;
  const old = await listWithOldLsblk();
  return old.length > 0 ? old : listFromKernel();
}

/**
 * lsblk before util-linux 2.27 has no JSON; it is seldom met, so the library that reads its other
 * form is loaded only then.
 */
async function listWithOldLsblk(): Promise<ListedDevice[]> {
  const { blockDevices } = await import('systeminformation/lib/filesystem.js');
  const listed = await blockDevices();
  const numbers = new Map(
    parsePartitions(await readText('/proc/partitions')).map(({ name, device }) => [name, device]),
  );
  return Promise.all(
    listed.map(async ({ name, fsType, label, uuid, size }) => {
      const mapped = `/dev/mapper/${name}`;
      const node = await realpath(mapped).catch(() => undefined);
      const kernelName = node === undefined ? name : basename(node);
      const isWhole = listed.some(
        (other) => other.type === 'part' && other.name !== name && other.name.startsWith(name),
      );
      return {
        name: kernelName,
        path: node === undefined ? `/dev/${name}` : mapped,
        device: numbers.get(kernelName) ?? '',
        sizeBytes: size,
        type: fsType,
        version: '',
        label,
        uuid,
        isWhole,
      };
    }),
  );
}

async function listFromKernel(): Promise<ListedDevice[]> {
  const partitions = parsePartitions(await readText('/proc/partitions'));
  if (partitions.length === 0) {
    throw new DepotError(
      'internal',
      'cannot list block devices: lsblk is missing and /proc/partitions is empty',
    );
  }
  return partitions.map(({ name, device, sizeBytes }) => ({
    name,
    device,
    sizeBytes,
    path: `/dev/${name}`,
    type: '',
    version: '',
    label: '',
    uuid: '',
    isWhole: false,
  }));
}

/**
 * Asks blkid for each device, or, if that is missing or busybox's, OpenWrt's `block` for all.
 */
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
    // 2 is "nothing found"; anything else beside 0 and 8 (ambivalent) means that this blkid does
    // not probe, or that this device has gone.
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
  mounts: readonly Mount[],
): BlockDevice {
  const { name, path, sizeBytes } = device;
  const own = mounts.filter(
    (mount) =>
      mount.source.split(':').includes(path) ||
      mount.source === `/dev/${name}` ||
      (device.device !== '' && mount.device === device.device),
  );
  const known = device.type === '' && content !== undefined ? content : device;
  // A device that may not be read still shows what it is mounted as.
  const type = known.type === '' ? (own[0]?.type ?? '') : known.type;
  return {
    name,
    path,
    sizeBytes,
    type,
    version: known.version,
    label: known.label,
    uuid: known.uuid,
    mounts: [...new Set(own.map((mount) => mount.path))],
  };
}

/**
 * A mounted file system does not write through its device's node, so that what writes there is
 * mkfs, a label, dd.
 */
function watchNodes(paths: readonly string[], onWrite: () => void): () => void {
  const watchers = paths.flatMap((path) => {
    try {
      return [watch(path, { persistent: false }, written).on('error', () => undefined)];
    } catch {
      // The node has gone, which the fingerprint tells; or the system is out of watches, and then
      // age does.
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
