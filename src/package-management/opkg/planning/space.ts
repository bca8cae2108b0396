import { tmpdir } from 'node:os';
import { freeBytesOf, isSameDisk } from '../../../device/disk/space.ts';
import { sizeText } from '../../../format-bytes.ts';
import { appOf } from '../../names.ts';
import type { PackageChange } from '../../manager.ts';
import type { PreviewedChange } from '../../preview.ts';
import { createProblem, type Problem } from '../../problem.ts';
import type { Candidate } from './known-packages.ts';

/** Free space as it becomes less from package to package. */
export type Space = ReturnType<typeof createSpace>;

const KIB = 1024;

/**
 * opkg asks before each package whether its installed size, if it has one, is less than what is
 * free, in KiB. The old version's space becomes free only afterwards.
 */
export function createSpace(freeBytes: number) {
  let free = freeBytes;
  return {
    /** @returns both figures if the package does not fit any more */
    reserve: ({ record }: Candidate, old?: Candidate) => {
      const neededBytes = record.installedBytes;
      if (neededBytes > 0 && Math.ceil(neededBytes / KIB) >= Math.floor(free / KIB)) {
        return { neededBytes, freeBytes: free };
      }
      free -= neededBytes - (old?.record.installedBytes ?? 0);
      return undefined;
    },
  };
}

/**
 * opkg fetches packages to its temporary folder, and leaves them there until it ends. It looks only
 * at what is free for the package that it unpacks, and takes a disk that is full of downloads for
 * a good one: it ends with 0 and packages without content (docs/reference/opkg.md).
 */
export async function findShortage(
  { verb, names }: PackageChange,
  changes: readonly PreviewedChange[],
  { destination, freeBytes }: { destination: string; freeBytes: number },
): Promise<Problem | undefined> {
  const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);
  const fetched = sum(changes.map(({ downloadBytes = 0 }) => downloadBytes));
  if (fetched === 0) return undefined;
  const folder = tmpdir();
  const asked = names.map((name) => appOf(name).name);
  const problemWith = (reason: string): Problem =>
    createProblem('no_space', `cannot ${verb} ${[...new Set(asked)].join(', ')}: ${reason}`);
  if (await isSameDisk(folder, destination)) {
    const needed = fetched + Math.max(0, sum(changes.map(({ diskBytes }) => diskBytes)));
    if (needed < freeBytes) return undefined;
    return problemWith(
      `it needs ${sizeText(needed)}, ${sizeText(fetched)} of it to fetch it to, and ` +
        `${sizeText(freeBytes)} are free`,
    );
  }
  const freeToFetch = await freeBytesOf(folder);
  if (fetched < freeToFetch) return undefined;
  return problemWith(
    `${sizeText(fetched)} are fetched to ${folder}, and ${sizeText(freeToFetch)} are free there`,
  );
}
