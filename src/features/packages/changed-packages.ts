import { isPresent, type PackageDatabase } from './package-database.ts';

/** Names of the packages that came, went, or are there in another version or state. */
export function changedPackages(before: PackageDatabase, after: PackageDatabase): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => stateIn(before, name) !== stateIn(after, name)).sort();
}

function stateIn(database: PackageDatabase, name: string): string {
  const entry = database.get(name);
  return isPresent(entry) ? `${entry.state} ${entry.version}` : 'absent';
}
