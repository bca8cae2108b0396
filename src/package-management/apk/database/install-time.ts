import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * apk records no time of installation. A package's list of files has that of its build, but its
 * inode changed when it was put there (ctime, inode(7)).
 * @param packages the folder of the lists
 */
export async function installedMs(packages: string, name: string): Promise<number | undefined> {
  return stat(join(packages, `${name}.list`)).then(
    ({ ctimeMs }) => ctimeMs,
    () => undefined,
  );
}

/** In Unix seconds; 0 if nothing says it. */
export async function installTime(packages: string, name: string): Promise<number> {
  return Math.floor(((await installedMs(packages, name)) ?? 0) / 1000);
}
