import { imageToKeep, isPresent, type InstalledPackage, type PackageDatabase } from './database.ts';
import { luciSubjectOf, TRANSLATION_PREFIX } from './names.ts';

/** The installed translations of an application; none of another package. */
export function translationsIn(database: PackageDatabase, packageName: string): string[] {
  if (luciSubjectOf(packageName) === undefined) return [];
  return [...database.values()]
    .filter((entry) => isPresent(entry) && entry.name.startsWith(TRANSLATION_PREFIX))
    .filter(({ depends }) => depends.some((names) => names.includes(packageName)))
    .map(({ name }) => name);
}

/** The installed packages that meet a dependency: by name, or because they provide it. */
function providersOf(database: PackageDatabase, names: readonly string[]): InstalledPackage[] {
  const answers = ({ name, provides }: InstalledPackage): boolean =>
    names.some((wanted) => name === wanted || provides.includes(wanted));
  return [...database.values()].filter((entry) => isPresent(entry) && answers(entry));
}

/**
 * What goes when `targets` go: they themselves, and of their dependencies, and theirs, each package
 * that came as a dependency (`isAuto`) and that no package left needs; of applications of LuCI also
 * their translations. Essential packages stay, and what `imageToKeep` says.
 * Those that need others stand before them, the order in which they can be removed one by one;
 * behind them what else the owner called them.
 */
export function removalSet(
  database: PackageDatabase,
  targets: readonly string[],
  image: ReadonlySet<string>,
): string[] {
  const kept = imageToKeep(image, targets);
  const gone = new Set<string>();
  const add = (name: string): void => {
    gone.add(name);
    for (const each of translationsIn(database, name)) if (!kept.has(each)) gone.add(each);
  };
  targets.forEach(add);
  for (let isGrowing = true; isGrowing;) {
    isGrowing = false;
    for (const entry of dependenciesOf(database, gone)) {
      if (entry.isEssential || !entry.isAuto || kept.has(entry.name)) continue;
      const withTranslations = new Set([...gone, ...translationsIn(database, entry.name)]);
      if (isNeeded(database, entry, withTranslations)) continue;
      add(entry.name);
      isGrowing = true;
    }
  }
  return withAskedNames(database, dependentsFirst(database, [...gone]));
}

/** Dependencies that came as such, of these and of each other. */
export function cameWith(
  database: PackageDatabase,
  names: readonly string[],
  image: ReadonlySet<string>,
): string[] {
  const found = new Set(names);
  for (const name of found) {
    for (const needed of wantedBy(database.get(name)).flat()) {
      const entry = database.get(needed);
      const mayChange = isPresent(entry) && entry.isHeld !== true && !entry.isEssential;
      if (mayChange && entry.isAuto && !image.has(needed)) found.add(needed);
    }
  }
  return [...found].slice(names.length);
}

/** Packages and all that they need, and what that needs, as far as it is installed. */
export function withNeeded(database: PackageDatabase, names: readonly string[]): Set<string> {
  const providers = new Map<string, string[]>();
  for (const { name, provides } of [...database.values()].filter(isPresent)) {
    for (const each of [name, ...provides]) {
      const known = providers.get(each);
      if (known === undefined) providers.set(each, [name]);
      else known.push(name);
    }
  }
  const found = new Set(names);
  for (const name of found) {
    for (const wanted of [name, ...wantedBy(database.get(name)).flat()]) {
      for (const provider of providers.get(wanted) ?? []) found.add(provider);
    }
  }
  return found;
}

/** Adds other names that the owner asked for them by: these would bring the packages back. */
export function withAskedNames(database: PackageDatabase, names: readonly string[]): string[] {
  const asked = names.flatMap((name) => database.get(name)?.askedAs ?? []);
  return [...new Set([...names, ...asked])];
}

/** Direct dependencies of a set of packages that are not in the set. */
function dependenciesOf(database: PackageDatabase, names: ReadonlySet<string>): InstalledPackage[] {
  const found = new Set<InstalledPackage>();
  for (const name of names) {
    for (const alternatives of wantedBy(database.get(name))) {
      for (const entry of providersOf(database, alternatives)) {
        if (!names.has(entry.name)) found.add(entry);
      }
    }
  }
  return [...found];
}

/** The packages that stay and depend on this one. */
export function dependentsOf(
  database: PackageDatabase,
  entry: InstalledPackage,
  gone: ReadonlySet<string>,
): string[] {
  return [...database.values()]
    .filter((other) => isPresent(other) && other.name !== entry.name && !gone.has(other.name))
    .filter((other) => needs(other, entry))
    .map(({ name }) => name);
}

export function isNeeded(...question: Parameters<typeof dependentsOf>): boolean {
  return dependentsOf(...question).length > 0;
}

/**
 * Whether packages, in the order in which they are to go, need each other in a circle or one needs
 * what it provides itself, and nothing that stays needs any of them.
 */
export function isClosedCircle(database: PackageDatabase, names: readonly string[]): boolean {
  const gone = new Set(names);
  const going = names.map((name) => database.get(name)).filter(isPresent);
  if (going.some((entry) => entry.isEssential || isNeeded(database, entry, gone))) return false;
  return going.some((entry, index) => going.slice(index).some((later) => needs(later, entry)));
}

/** Whether the first depends on the second: by name, or by what that provides. */
export function needs(entry: InstalledPackage, { name, provides }: InstalledPackage): boolean {
  const answersTo = [name, ...provides];
  return wantedBy(entry).some((names) => names.some((wanted) => answersTo.includes(wanted)));
}

/** What is recommended comes along as well, and opkg removes it as little. */
function wantedBy(entry: InstalledPackage | undefined): string[][] {
  return [...(entry?.depends ?? []), ...(entry?.recommends ?? [])];
}

/** Packages that were not there before; those that need others before them. */
export function packagesThatCame(before: PackageDatabase, after: PackageDatabase): string[] {
  const names = [...after.values()]
    .filter((entry) => isPresent(entry) && !isPresent(before.get(entry.name)))
    .map(({ name }) => name);
  return dependentsFirst(after, names);
}

/** Orders packages so that each stands before those it depends on; circles keep their order. */
export function dependentsFirst(database: PackageDatabase, names: readonly string[]): string[] {
  const ordered: string[] = [];
  const walk = (name: string, path: ReadonlySet<string>): void => {
    if (ordered.includes(name) || path.has(name)) return;
    const isWantedBy = (other: string): boolean =>
      wantedBy(database.get(other)).some((wanted) => wanted.includes(name));
    const dependents = names.filter((other) => other !== name && isWantedBy(other));
    for (const dependent of dependents) walk(dependent, new Set([...path, name]));
    ordered.push(name);
  };
  for (const name of names) walk(name, new Set());
  return ordered;
}
