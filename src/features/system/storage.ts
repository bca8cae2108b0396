import { readFile } from 'node:fs/promises';
import { isInSight, parseMountTable, type MountEntry } from '../../device/disk/mounts.ts';
import { readOwnSpace, readSpace } from '../../device/disk/space.ts';
import type { Paths } from '../../device/paths.ts';
import type { DeviceSummary } from './documentation.ts';

type StorageItem = DeviceSummary['storage'][number];

/** OpenWrt runs from a read-only `/rom`, and writes to `/overlay`; others have `/` alone. */
export async function readStorage(
  paths: Paths,
  mountTable: () => Promise<string> = () => readFile('/proc/self/mountinfo', 'utf8'),
): Promise<StorageItem[]> {
  const mounts = parseMountTable(await mountTable().catch(() => ''));
  const wanted = [...systemMounts(paths, mounts), ...dataMounts(paths, mounts)];
  const items = await Promise.all(
    wanted.map(async ({ mount, role }) => {
      const read = role === 'data' ? readSpace : readOwnSpace;
      const space = await read(paths.onDevice(mount));
      if (space === undefined) return [];
      const { totalBytes, freeBytes } = space;
      return [{ mount, total_bytes: totalBytes, free_bytes: freeBytes, role }];
    }),
  );
  return items.flat();
}

type Wanted = Pick<StorageItem, 'mount' | 'role'>;

function systemMounts({ onDevice }: Paths, mounts: readonly MountEntry[]): Wanted[] {
  const isMounted = (path: string): boolean =>
    mounts.some((entry) => entry.path === onDevice(path));
  if (!isMounted('/overlay')) return [{ mount: '/', role: 'system' }];
  return [
    { mount: isMounted('/rom') ? '/rom' : '/', role: 'system' },
    { mount: '/overlay', role: 'overlay' },
  ];
}

/** Each disk once, where it was mounted first. A device in a folder has none of its own. */
function dataMounts({ isLive, onDevice }: Paths, mounts: readonly MountEntry[]): Wanted[] {
  if (!isLive) return [];
  const own = ['/', '/rom', '/overlay', '/boot'].map(onDevice);
  const seen = new Set(mounts.filter(({ path }) => own.includes(path)).map(({ device }) => device));
  return mounts.flatMap((mount): Wanted[] => {
    const { device, path, source, type } = mount;
    if (!source.startsWith('/dev/') || type === 'squashfs' || seen.has(device)) return [];
    if (!isInSight(mount, mounts)) return [];
    seen.add(device);
    return [{ mount: path, role: 'data' }];
  });
}
