import { readFeeds } from './feeds.ts';
import type { Locations } from '../database/locations.ts';
import { readWorld, type WorldEntry } from '../database/world.ts';

/**
 * What feeds with a tag offer is masked: apk takes it for those packages alone that world asks for
 * with the tag, and for what they need (apk-repositories(5), apk-world(5)).
 */
export interface Masks {
  /** Changes with what is masked; the lists of feeds have versions of their own. */
  version: string;
  isMasked: (name: string, feedUrl: string) => boolean;
}

export async function readMasks({
  feeds: folder,
  world,
}: Pick<Locations, 'feeds' | 'world'>): Promise<Masks> {
  const { feeds } = await readFeeds(folder);
  const open = new Set(feeds.flatMap(({ url, tag }) => (tag === '' ? [url] : [])));
  const tagged = feeds.filter(({ url }) => !open.has(url));
  if (tagged.length === 0) return { version: '', isMasked: () => false };
  // A world that cannot be read is reported by the jobs that change packages.
  const entries = await readWorld(world).then(
    (found) => found.entries,
    (): WorldEntry[] => [],
  );
  return {
    version: entries.map(({ text }) => text).join(' '),
    isMasked: (name, feedUrl) => {
      const tags = tagged.flatMap(({ url, tag }) => (url === feedUrl ? [tag] : []));
      if (tags.length === 0) return false;
      const own = entries.filter((entry) => entry.name === name);
      // A package that world does not name may be a dependency of one that it asks for by the tag.
      const asking = own.length === 0 ? entries : own;
      return !asking.some(({ tag }) => tags.includes(tag));
    },
  };
}
