import { readFile } from 'node:fs/promises';
import { installedMs } from './install-time.ts';
import type { Locations } from './locations.ts';

/**
 * What the image brought: the record below `/rom`, where OpenWrt mounts the image. Without one:
 * packages whose list of files got its inode in the same moment as libc's, since apk records no
 * time of installation.
 * @param record `/rom/lib/apk/db/installed`, root included
 */
export async function imagePackages(
  record: string,
  names: Iterable<string>,
  { packages }: Pick<Locations, 'packages'>,
): Promise<ReadonlySet<string>> {
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
