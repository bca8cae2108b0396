import { createTar as packTar, type TarEntry } from '../../packaging/tar.ts';

/**
 * Shortly after the epoch's 1.7 billionth second: the same bytes for the same entries, whenever
 * they are made.
 */
export const MODIFIED_AT = 1_700_000_000;

export function createTar(entries: readonly TarEntry[]): Buffer {
  return packTar(entries, MODIFIED_AT);
}
