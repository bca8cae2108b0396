import { stat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Paths } from '../../../device/paths.ts';
import type { Locations } from './apk-locations.ts';

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

/** When a package was installed, Unix seconds; 0 if nothing says it. */
export async function installTime(packages: string, name: string): Promise<number> {
  return Math.floor(((await installedMs(packages, name)) ?? 0) / 1000);
}

/**
 * What the image brought: the record below `/rom`, where OpenWrt mounts the image. Without one:
 * packages whose list of files got its inode in the same moment as libc's (apk records no time).
 */
export async function imagePackages(
  { onDevice }: Paths,
  names: Iterable<string>,
  { packages }: Locations,
): Promise<ReadonlySet<string>> {
  const record = onDevice('/rom/lib/apk/db/installed');
  const text = await readFile(record, 'utf8').catch(() => undefined);
  if (text !== undefined) {
    return new Set(Array.from(text.matchAll(/^P:(\S+)$/gm), ([, name = '']) => name));
  }
  const time = await installedMs(packages, 'libc');
  const brought = new Set(['libc']);
  if (time === undefined) return brought;
  for (const name of names) {
    if ((await installedMs(packages, name)) === time) brought.add(name);
  }
  return brought;
}
