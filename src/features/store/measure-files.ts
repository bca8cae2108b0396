import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isAtOrIn } from '../../device/inside-folder.ts';

/** How many are looked at together: a slow disk answers a few at a time. */
const AT_ONCE = 16;

/**
 * Counts what is there of some files, and their bytes. The paths are a package's: a link in them
 * that leads out of the root is not followed, and the last one never.
 * @param paths absolute on the device
 */
export async function measureFiles(root: string, paths: readonly string[]) {
  const base = await realpath(root);
  const folders = new Map<string, Promise<string | undefined>>();
  const folderOf = (path: string): Promise<string | undefined> => {
    const folder = dirname(path);
    const known = folders.get(folder) ?? resolveFolder(base, folder);
    folders.set(folder, known);
    return known;
  };
  const total = { count: 0, bytes: 0 };
  const measure = async (path: string): Promise<void> => {
    const folder = await folderOf(path);
    if (folder === undefined) return;
    const entry = await lstat(join(folder, basename(path))).catch(() => undefined);
    if (entry === undefined || entry.isDirectory()) return;
    total.count += 1;
    if (entry.isFile()) total.bytes += entry.size;
  };
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    await Promise.all(paths.slice(from, from + AT_ONCE).map(measure));
  }
  return total;
}

/** @returns undefined if it is not there, or not below the root */
async function resolveFolder(base: string, folder: string): Promise<string | undefined> {
  const path = await realpath(join(base, folder)).catch(() => undefined);
  return path !== undefined && isAtOrIn(path, base) ? path : undefined;
}
