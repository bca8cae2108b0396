import { readSpace } from '../../device/disk/space.ts';

/** How full a device is; nothing for one that is not mounted, or does not answer. */
export interface Space {
  total_bytes?: number;
  used_bytes?: number;
  /** What programs can use. */
  free_bytes?: number;
  mounts: readonly string[];
}

/** Adds mounts and space; the first mount of a device says how full it is (statvfs(3)). */
export async function withSpace<Item extends object>(
  items: Readonly<Record<string, Item>>,
  mounts: ReadonlyMap<string, readonly string[]>,
): Promise<Record<string, Item & Space>> {
  const entries = Object.entries(items).map(async ([name, item]) => {
    const own = mounts.get(name) ?? [];
    return [name, { ...item, ...(await spaceIn(own[0])), mounts: own }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function spaceIn(path: string | undefined): Promise<Omit<Space, 'mounts'>> {
  const space = path === undefined ? undefined : await readSpace(path);
  if (space === undefined) return {};
  const { totalBytes, usedBytes, freeBytes } = space;
  return { total_bytes: totalBytes, used_bytes: usedBytes, free_bytes: freeBytes };
}
