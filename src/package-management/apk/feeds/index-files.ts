import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileVersionSync } from '../../../device/file-version.ts';
import { isFolder } from '../../../device/is-there.ts';
import { readSmallFile } from '../../../device/owner-file.ts';
import type { Paths } from '../../../device/paths.ts';
import { DepotError, orElse } from '../../../errors.ts';
import { cacheFolder, type Locations } from '../database/apk-locations.ts';
import { readMasks } from './feed-lines.ts';

/** What decides what the feeds offer: copies of indexes, lists of feeds, keys, architectures. */
async function feedFiles(paths: Paths, { feeds, configuration }: Locations): Promise<string[]> {
  return [
    join(configuration, 'arch'),
    ...filesIn(await cacheFolder(paths), (name) => name.startsWith('APKINDEX.')),
    ...filesIn(feeds, (name) => name.endsWith('.list')),
    ...filesIn(join(configuration, 'keys'), () => true),
  ];
}

/** The same, and the records that apk reads whatever it is asked. */
export async function indexFiles(paths: Paths, locations: Locations): Promise<string[]> {
  return [...recordFiles(locations), ...(await feedFiles(paths, locations))];
}

export function recordFiles(locations: Locations): string[] {
  const { world, installed, scripts, plainScripts, triggers } = locations;
  return [world, installed, scripts, plainScripts, triggers];
}

/**
 * apk reads whatever stands under such a name: it waits for the writer of a fifo, and never comes
 * to the end of a device.
 * @throws DepotError unavailable that names the file, and what its owner can do
 */
export async function assertReadable(files: readonly string[], { triggers }: Locations) {
  const file = findUnending(files) ?? ((await isFolder(triggers)) ? triggers : undefined);
  if (file === undefined) return;
  const remedy = `Put a file in the place of ${file}, then try again.`;
  const explanation = { code: 'damaged_database', remedy };
  throw new DepotError('unavailable', `cannot run apk: ${file} is no file`, { explanation });
}

/** Synchronous, as for opkg's settings: all index files are on the root file system. */
function findUnending(files: readonly string[]): string | undefined {
  return files.find((file) => {
    const entry = orElse(() => statSync(file, { throwIfNoEntry: false }), undefined);
    return entry !== undefined && !entry.isFile() && !entry.isDirectory();
  });
}

function filesIn(folder: string, isWanted: (name: string) => boolean): string[] {
  return orElse(() => readdirSync(folder), [])
    .filter(isWanted)
    .sort()
    .map((name) => join(folder, name));
}

const MOST_ARCHITECTURES_BYTES = 64 * 1024;

/** `/etc/apk/arch`, the preferred one first. */
export async function readArchitectures({ onDevice }: Pick<Paths, 'onDevice'>): Promise<string[]> {
  const text = (await readSmallFile(onDevice('/etc/apk/arch'), MOST_ARCHITECTURES_BYTES)) ?? '';
  return text.split(/\s+/).filter((line) => line !== '');
}

/** Changes with whatever changes what apk says of the feeds. */
export async function indexVersion(paths: Paths, locations: Locations): Promise<string> {
  const files = await feedFiles(paths, locations);
  const versions = files.map((file) => `${file} ${fileVersionSync(file) ?? ''}`);
  return [...versions, (await readMasks(locations)).version].join('\n');
}
