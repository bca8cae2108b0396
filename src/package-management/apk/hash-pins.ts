import { readHashes } from './database/installed-db.ts';
import { isHashPin, readWorld } from './database/world.ts';
import { queryFeeds } from './feeds/query.ts';
import type { Installation } from './installation.ts';

/** How apk calls its own record where it says which repositories have a build. */
const RECORD = 'lib/apk/db/installed';

/**
 * What world binds to one file by its hash. apk prints no hash of what feeds have, but it knows two
 * builds of a version from each other: of the one that is installed it names each feed that has it.
 */
export async function findHashPins({
  locations,
  commands,
}: Pick<Installation, 'locations' | 'commands'>): Promise<{ name: string; isOffered: boolean }[]> {
  const pins = (await readWorld(locations.world)).entries.filter(isHashPin);
  if (pins.length === 0) return [];
  const hashes = await readHashes(locations.installed);
  const offered = new Set<string>();
  await queryFeeds(commands, {
    names: pins.map(({ name }) => name),
    fields: 'name,repositories',
    from: 'system',
    onPackage: ({ name, repositories }) => {
      if (repositories.includes(RECORD) && repositories.length > 1) offered.add(name);
      return true;
    },
  });
  return pins.map(({ name, version }) => ({
    name,
    isOffered: hashes.get(name) === version && offered.has(name),
  }));
}
