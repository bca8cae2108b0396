import { freeBytesOf, isSameDisk } from '../../../device/disk/space.ts';
import { join } from 'node:path';
import { sizeText } from '../../../format-bytes.ts';
import type { Failure } from '../../failure.ts';
import type { PackageChange } from '../../manager.ts';
import type { PreviewedChange } from '../../preview.ts';
import type { InstalledRecord } from '../database/installed-db.ts';
import type { ApkOffer } from '../feeds/offers.ts';
import type { Installation } from '../installation.ts';
import type { PlannedChange } from './simulation.ts';

/** What one package of a plan takes. */
type Size = Pick<PreviewedChange, 'downloadBytes' | 'diskBytes'>;

/** What says how large packages are. */
export interface KnownSizes {
  offers: ReadonlyMap<string, readonly ApkOffer[]>;
  records: ReadonlyMap<string, InstalledRecord>;
  file?: PackageChange['file'];
}

/** As the indexes and the record have it; what apk prints itself is rounded. */
export function sizeOf({ name, to }: PlannedChange, { offers, records, file }: KnownSizes): Size {
  const oldBytes = records.get(name)?.installedBytes ?? 0;
  if (to === undefined) return { diskBytes: -oldBytes };
  // A file that was given is not fetched.
  if (name === file?.name) return { diskBytes: (file.installedBytes ?? 0) - oldBytes };
  const offer = offers.get(name)?.find(({ version }) => version === to);
  if (offer === undefined) return { diskBytes: -oldBytes };
  const { downloadBytes, installedBytes } = offer;
  return { downloadBytes, diskBytes: installedBytes - oldBytes };
}

export type Room = Awaited<ReturnType<typeof measureRoom>>;

/** The room that a plan without packages takes. */
export const NOTHING = { disk: 0, download: 0, freeInCache: 0, isShared: false };

/** What a plan takes, and what is free for it, in bytes. */
export async function measureRoom(
  { root, cache }: Pick<Installation, 'root' | 'cache'>,
  sizes: readonly Size[],
) {
  const folder = await cache();
  const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);
  return {
    /** Bytes that the root grows by. */
    disk: Math.max(0, sum(sizes.map(({ diskBytes }) => diskBytes))),
    /** Bytes that are fetched to apk's cache, which mostly lies in memory. */
    download: sum(sizes.map(({ downloadBytes = 0 }) => downloadBytes)),
    free: await freeBytesAt(root),
    freeInCache: await freeBytesAt(folder),
    /** Whether the cache is on the root's disk. */
    isShared: await isSameDisk(folder, root),
  };
}

/** Bytes free in the file system of a folder, or of the nearest one above that is there. */
export async function freeBytesAt(folder: string): Promise<number> {
  return freeBytesOf(folder).catch(() => freeBytesOf(join(folder, '..')));
}

/** apk's record grows with what it installs, and is written anew beside itself. */
const RESERVE_BYTES = 1024 ** 2;

/** What a plan has no room for: itself, or what it fetches to the same disk until it is there. */
export function findShortage(room: Room): { failure: Failure; missingBytes: number } | undefined {
  const { disk, download, free, freeInCache, isShared } = room;
  const fetched = isShared || download > freeInCache ? download : 0;
  const missingBytes = disk + fetched + RESERVE_BYTES - free;
  if (missingBytes <= 0) return undefined;
  const isFetchable = disk + RESERVE_BYTES <= free;
  const reason = shortageOf({ disk, fetched: isFetchable ? fetched : 0, free });
  return { failure: { code: 'no_space', reason }, missingBytes };
}

function shortageOf({ disk, fetched, free }: Record<'disk' | 'fetched' | 'free', number>): string {
  const [needed, part] = [sizeText(disk + fetched), sizeText(fetched)];
  const [spare, there] = [sizeText(RESERVE_BYTES), sizeText(free)];
  if (disk + fetched === 0) return `${there} are free for packages, ${spare} are needed at least`;
  if (fetched === 0) {
    return `it needs ${needed} and ${spare} to spare on the device, ${there} are free`;
  }
  return (
    `it needs ${needed}, ${part} of it to fetch it to, and ${spare} to spare on the device, ` +
    `${there} are free`
  );
}
