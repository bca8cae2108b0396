import { access, constants, lstat, stat } from 'node:fs/promises';

/** What cannot be looked at is not there (access(2)). @param mode X_OK: it can be run */
export async function isThere(path: string, mode = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

/** Whether the name itself is there, a link that leads nowhere included. */
export async function hasEntry(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}
