import { readFile } from 'node:fs/promises';
import type { PackageDatabase } from '../../database.ts';
import { parseStatus } from './status-file.ts';

/**
 * What the image brought: the status file below `/rom`, where OpenWrt mounts the image. Without
 * one, such as on an ext4 image: what was installed in the same second as libc.
 * @param file `/rom/usr/lib/opkg/status`, root included
 */
export async function imagePackages(
  file: string,
  database: PackageDatabase,
): Promise<ReadonlySet<string>> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined) return new Set(parseStatus(text).keys());
  const { installedAt = 0 } = database.get('libc') ?? {};
  const brought = [...database.values()].filter(
    (entry) => entry.name === 'libc' || (installedAt > 0 && entry.installedAt === installedAt),
  );
  return new Set(brought.map(({ name }) => name));
}
