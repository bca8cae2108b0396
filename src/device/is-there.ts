import { access, constants, lstat, stat } from 'node:fs/promises';
import { reasonOf, succeeds } from '../errors.ts';

/** What cannot be looked at is not there (access(2)). @param mode X_OK: it can be run */
export async function isThere(path: string, mode = constants.F_OK): Promise<boolean> {
  return succeeds(access(path, mode));
}

/** Whether the name itself is there, a link that leads nowhere included. */
export async function hasEntry(path: string): Promise<boolean> {
  return succeeds(lstat(path));
}

/**
 * Why folders cannot be written to, a sentence for each that cannot. root may write everywhere but
 * on a file system that is read-only.
 */
export async function writeFaults(folders: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const folder of folders) {
    await access(folder, constants.W_OK).catch((error: unknown) =>
      faults.push(`cannot write to ${folder}: ${reasonOf(error)}`),
    );
  }
  return faults;
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}
