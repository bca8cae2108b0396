import { statfs } from 'node:fs/promises';
import { sizeText } from '../../../format-bytes.ts';
import { readMounts } from '../../../device/disk/mounts.ts';
import type { Paths } from '../../../device/paths.ts';
import type { DeviceCheck, Finding } from '../../device-check.ts';

const MIB = 1024 ** 2;

interface Location {
  /** What it is for. */
  title: string;
  path: string;
  /** Below the first it is a warning, below the second nothing works. */
  limits: [warning: number, error: number];
  remedy: string;
}

/** Room for packages, for what is fetched and unpacked, and for the daemon's own records. */
export async function spaceChecks(paths: Paths): Promise<DeviceCheck[]> {
  const system = await systemLocation(paths);
  const locations: (Location & { id: string })[] = [
    {
      id: 'space-system',
      title: 'new packages',
      path: system,
      limits: [8 * MIB, MIB],
      remedy: 'remove packages that are not needed, or extend the overlay with a disk (extroot)',
    },
    {
      id: 'space-tmp',
      title: 'downloads and package lists',
      path: paths.onDevice('/tmp'),
      limits: [16 * MIB, 2 * MIB],
      remedy: 'remove files below /tmp, or restart the device: it is in memory on OpenWrt',
    },
    {
      id: 'space-state',
      title: "depotd's records",
      path: paths.stateDir,
      limits: [2 * MIB, 256 * 1024],
      remedy: 'free space there, or set main.state_dir to a folder on another disk',
    },
  ];
  return locations.map(({ id, ...location }) => ({ id, run: () => look(location) }));
}

/** `/overlay` if something is mounted there, else the root itself. */
async function systemLocation({ root, onDevice }: Paths): Promise<string> {
  const overlay = onDevice('/overlay');
  const mounts = await readMounts().catch(() => []);
  return mounts.some(({ path }) => path === overlay) ? overlay : root;
}

async function look({ title, path, limits, remedy }: Location): Promise<Finding> {
  const { bavail, bsize, files, ffree } = await statfs(path);
  const free = bavail * bsize;
  const message = `${sizeText(free)} are free for ${title} (${path})`;
  // File systems that make inodes as they need them (btrfs) say 0 of 0.
  if (files > 0 && ffree === 0) {
    return { state: 'error', message: `no more files can be made in ${path}`, remedy };
  }
  const [warning, error] = limits;
  if (free >= warning) return { state: 'ok', message };
  return { state: free < error ? 'error' : 'warning', message, remedy };
}
