import type { Candidate } from './catalogue.ts';

/** Free space as it becomes less from package to package. */
export type Space = ReturnType<typeof createSpace>;

const KIB = 1024;

/**
 * opkg asks before each package whether its installed size is less than what is free, in KiB, and
 * does not ask for a package that does not say its size. The old version's space becomes free only
 * afterwards.
 */
export function createSpace(freeBytes: number) {
  let free = freeBytes;
  return {
    /** @returns both figures if the package does not fit any more */
    reserve: (
      { record }: Candidate,
      old: Candidate | undefined,
    ): { neededBytes: number; freeBytes: number } | undefined => {
      const neededBytes = record.installedBytes;
      if (neededBytes > 0 && Math.ceil(neededBytes / KIB) >= Math.floor(free / KIB)) {
        return { neededBytes, freeBytes: free };
      }
      free -= neededBytes - (old?.record.installedBytes ?? 0);
      return undefined;
    },
  };
}
