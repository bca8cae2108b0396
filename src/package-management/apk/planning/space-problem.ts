import type { Preview } from '../../preview.ts';
import { createProblem, type Problem } from '../../problem.ts';
import { DepotError } from '../../../errors.ts';
import { needBytes, RESERVE_BYTES } from './download.ts';

/** What is fetched lies in memory first, or on the device if there is no room for it. */
export interface Room {
  freeBytes: number;
  freeCacheBytes: number;
  /** Whether both are on the same disk. */
  isShared: boolean;
}

/** As a job asks before it begins. */
export function spaceProblem(
  purpose: string,
  changes: Preview['changes'],
  { freeBytes, freeCacheBytes, isShared }: Room,
): Problem | undefined {
  const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);
  const disk = Math.max(0, sum(changes.map(({ diskBytes }) => diskBytes)));
  const download = sum(changes.map(({ downloadBytes = 0 }) => downloadBytes));
  const fetched = isShared || download > freeCacheBytes ? download : 0;
  try {
    needBytes(purpose, { disk, free: freeBytes });
    needBytes(purpose, { disk, fetched, free: freeBytes });
    return undefined;
  } catch (error) {
    if (!(error instanceof DepotError)) throw error;
    return {
      ...createProblem('no_space', error.message),
      missing_bytes: disk + fetched + RESERVE_BYTES - freeBytes,
    };
  }
}
