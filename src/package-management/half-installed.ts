import { isPresent, type InstalledPackage, type PackageDatabase } from './database.ts';

/** Packages that a job brought, changed or found whole, and that are there and not configured. */
export function halfInstalled(before: PackageDatabase, after: PackageDatabase): InstalledPackage[] {
  return [...after.values()].filter(
    (entry) => isPresent(entry) && isNewlyHalf(entry, before.get(entry.name)),
  );
}

function isNewlyHalf(entry: InstalledPackage, before: InstalledPackage | undefined): boolean {
  const wasOtherwise = before?.state === 'installed' || before?.version !== entry.version;
  return entry.state !== 'installed' && wasOtherwise;
}

/** Whether a package is installed by its own name, or because another one stands for it. */
export function isInstalled(database: PackageDatabase, name: string): boolean {
  if (database.get(name)?.state === 'installed') return true;
  return [...database.values()].some(
    (entry) => entry.state === 'installed' && entry.provides.includes(name),
  );
}

/** Names of the packages that came, went, or are there in another version or state. */
export function changedPackages(before: PackageDatabase, after: PackageDatabase): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => stateIn(before, name) !== stateIn(after, name)).sort();
}

function stateIn(database: PackageDatabase, name: string): string {
  const entry = database.get(name);
  return isPresent(entry) ? `${entry.state} ${entry.version}` : 'absent';
}
