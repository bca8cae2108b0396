import { join } from 'node:path';
import * as v from 'valibot';
import { readJson, replaceFile } from '../device/durable-file.ts';
import type { Paths } from '../device/paths.ts';
import type { PackageDatabase } from './database.ts';
import type { PackageManager } from './manager.ts';

/**
 * Feeds that packages are installed from and never upgraded from, by name. Neither package manager
 * has such a thing for a feed: it is depotd's own note, and what depotd asks of them goes by it.
 */
export type NoUpgrades = ReturnType<typeof createNoUpgrades>;

export function noUpgradesFile({ stateDir }: Pick<Paths, 'stateDir'>): string {
  return join(stateDir, 'no-upgrades.json');
}

const names = v.fallback(v.array(v.string()), []);

export function createNoUpgrades(paths: Pick<Paths, 'stateDir'>) {
  const file = noUpgradesFile(paths);
  const read = async (): Promise<ReadonlySet<string>> =>
    new Set(v.parse(names, await readJson(file)));
  return {
    read,
    /** Has a feed give upgrades, or none; safe to do again. */
    set: async (feed: string, isSet: boolean): Promise<void> => {
      const feeds = await read();
      if (feeds.has(feed) === isSet) return;
      const others = [...feeds].filter((name) => name !== feed);
      await replaceFile(file, JSON.stringify(isSet ? [...others, feed] : others));
    },
  };
}

interface Tools {
  manager: Pick<PackageManager, 'listing' | 'offers' | 'compareVersions'>;
  noUpgrades: NoUpgrades;
}

/**
 * Those of these packages whose best version, which an upgrade would bring, such a feed has.
 * @returns the feed by name
 */
export async function keptBack(
  tools: Tools,
  database: PackageDatabase,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (wanted.length === 0 || (await tools.noUpgrades.read()).size === 0) return new Map();
  const offers = await tools.manager.offers(wanted);
  const newer = [...offers].flatMap(([name, [best]]): [string, string][] => {
    const { version } = database.get(name) ?? {};
    if (best === undefined || version === undefined) return [];
    return tools.manager.compareVersions(best.version, version) > 0 ? [[name, best.version]] : [];
  });
  return keptVersions(tools, new Map(newer));
}

/** The packages that a feed without upgrades has in just this version, with the feed's name. */
export async function keptVersions(
  { manager: { listing }, noUpgrades }: Tools,
  versions: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const feeds = await noUpgrades.read();
  const kept = new Map<string, string>();
  if (feeds.size === 0 || versions.size === 0) return kept;
  for await (const { name, version, feed } of listing.read([...versions.keys()])) {
    if (feeds.has(feed) && versions.get(name) === version) kept.set(name, feed);
  }
  return kept;
}
