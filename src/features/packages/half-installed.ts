import type { InstalledPackage, PackageDatabase } from './package-manager.ts';
import { isPresent } from './catalog.ts';

/**
 * What a job left half installed: packages that came, changed or were whole before, and are on the
 * device but not configured.
 */
export function leftHalf(before: PackageDatabase, after: PackageDatabase): InstalledPackage[] {
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
