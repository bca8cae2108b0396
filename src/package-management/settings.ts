import type { PackageManager } from './manager.ts';

/** Configuration files of installed packages; a removal leaves those that were changed. */
export async function settingsOf(
  { listing }: Pick<PackageManager, 'listing'>,
  names: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) found.push(...((await listing.record(name))?.config ?? []));
  return [...new Set(found)].slice(0, MOST_SETTINGS);
}

const MOST_SETTINGS = 200;
