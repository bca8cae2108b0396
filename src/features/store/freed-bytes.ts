import type { CatalogSnapshot } from '../../package-management/apps/catalog.ts';
import { removalSet } from '../../package-management/dependencies.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { findPackage, versionAt, type PackageIndex } from './package-index.ts';

interface SizeSources {
  manager: Pick<PackageManager, 'listing'>;
  offered: PackageIndex;
  snapshot: Pick<CatalogSnapshot, 'database'>;
  image: ReadonlySet<string>;
  /** Packages of installed apps. */
  apps: readonly string[];
}

/**
 * What the removal of each installed app would free, in bytes by its package: that one, and what
 * came with it and nothing else needs. A plan says the same.
 */
export async function freedBytes(sources: SizeSources): Promise<ReadonlyMap<string, number>> {
  const { database } = sources.snapshot;
  const removals = sources.apps.map(
    (name) => [name, removalSet(database, [name], sources.image)] as const,
  );
  const sizes = await sizesOf(sources, [...new Set(removals.flatMap(([, names]) => names))]);
  const sumOf = (names: readonly string[]): number =>
    names.reduce((sum, each) => sum + (sizes.get(each) ?? 0), 0);
  return new Map(removals.map(([name, names]) => [name, sumOf(names)]));
}

/** The device's own record says what a package takes, or else the list of its feed. */
async function sizesOf(
  { manager: { listing }, offered }: SizeSources,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { name, version, installedBytes } of listing.readInstalled(names)) {
    sizes.set(name, installedBytes || offeredBytes(offered, name, version));
  }
  return sizes;
}

function offeredBytes(offered: PackageIndex, name: string, version: string): number {
  const row = findPackage(offered, name);
  if (row === undefined || versionAt(offered, row) !== version) return 0;
  return offered.installedBytes[row] ?? 0;
}
