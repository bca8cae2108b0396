import { join } from 'node:path';
import { isFolder } from '../../../device/is-there.ts';
import type { Paths } from '../../../device/paths.ts';

export type Locations = ReturnType<typeof createLocations>;

/** Where apk keeps what it knows (docs/reference/apk.md), root included. */
export function createLocations({ onDevice, stateDir }: Paths) {
  const own = join(stateDir, 'apk');
  return {
    database: onDevice('/lib/apk/db'),
    installed: onDevice('/lib/apk/db/installed'),
    /** Packed, as apk makes it; unless there is a plain one, which images may have. */
    scripts: onDevice('/lib/apk/db/scripts.tar.gz'),
    plainScripts: onDevice('/lib/apk/db/scripts.tar'),
    triggers: onDevice('/lib/apk/db/triggers'),
    lock: onDevice('/lib/apk/db/lock'),
    world: onDevice('/etc/apk/world'),
    configuration: onDevice('/etc/apk'),
    feeds: onDevice('/etc/apk/repositories.d'),
    /** Files of packages that tell of them: `NAME.list` and others. */
    packages: onDevice('/lib/apk/packages'),
    /** The daemon's own folder: copies of apk's records, and what a transaction is about to do. */
    own,
    /** Stands in for the cache if that is too small; there only as long as it is needed. */
    ownCache: join(own, 'cache'),
    /** The packages of an upgrade under way, for the boot after a power cut. */
    keptPackages: join(own, 'packages'),
    /** A folder without files: apk takes an argument that names a file for a package file. */
    empty: join(own, 'empty'),
  };
}

/** The folder of index copies and downloaded packages; an owner may have made a lasting one. */
export async function cacheFolder({ onDevice }: Pick<Paths, 'onDevice'>): Promise<string> {
  const lasting = onDevice('/etc/apk/cache');
  return (await isFolder(lasting)) ? lasting : onDevice('/var/cache/apk');
}
