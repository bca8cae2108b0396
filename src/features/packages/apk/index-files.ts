import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Paths } from '../../../device/paths.ts';
import { DepotError } from '../../../errors.ts';
import { cacheFolder, type Locations } from './records/locations.ts';

/** What apk reads to say what the feeds offer: copies of indexes, lists of feeds, and keys. */
export async function indexFiles(
  paths: Paths,
  { feeds, configuration }: Pick<Locations, 'feeds' | 'configuration'>,
): Promise<string[]> {
  return [
    ...(await filesIn(await cacheFolder(paths), (name) => name.startsWith('APKINDEX.'))),
    ...(await filesIn(feeds, (name) => name.endsWith('.list'))),
    ...(await filesIn(join(configuration, 'keys'), () => true)),
  ];
}

/**
 * apk reads whatever stands under such a name: it waits for the writer of a fifo, and never comes
 * to the end of a device.
 * @throws DepotError unavailable that names the file
 */
export async function assertEnding(files: readonly string[]): Promise<void> {
  for (const file of files) {
    const entry = await stat(file).catch(() => undefined);
    if (entry === undefined || entry.isFile() || entry.isDirectory()) continue;
    throw new DepotError('unavailable', `cannot read what the feeds offer: ${file} is no file`);
  }
}

async function filesIn(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter(isWanted)
    .sort()
    .map((name) => join(folder, name));
}
