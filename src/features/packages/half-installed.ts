import { isPresent, type InstalledPackage, type PackageDatabase } from './package-database.ts';

/**
 * What a job left half installed: packages that came, changed or were whole before, and are on the
 * device but not configured.
 */
export function halfInstalled(before: PackageDatabase, after: PackageDatabase): InstalledPackage[] {
  return [...after.values()].filter(
    (entry) => isPresent(entry) && isNewlyHalf(entry, before.get(entry.name)),
  );
}

function isNewlyHalf(entry: InstalledPackage, before: InstalledPackage | undefined): boolean {
  return (
    entry.state !== 'installed' &&
    (before?.state === 'installed' || before?.version !== entry.version)
  );
}

/** By its own name, or because another package stands for it. */
export function isInstalled(database: PackageDatabase, name: string): boolean {
  return (
    database.get(name)?.state === 'installed' ||
    [...database.values()].some(
      (entry) => entry.state === 'installed' && entry.provides.includes(name),
    )
  );
}
