/** One package as the package manager's database has it. */
export interface InstalledPackage {
  name: string;
  version: string;
  architecture: string;
  /**
   * `installed`; `unpacked`: its files are there, and it is not configured; any other state, such
   * as `half-installed` or `not-installed`: its files may be there or not; `requested`: the owner
   * wants it, and it is not there.
   */
  state: string;
  /** Whether it came as a dependency. */
  isAuto: boolean;
  isEssential: boolean;
  /** Whether its owner holds it at this version. */
  isHeld?: boolean;
  /** Whether a power cut emptied files of it: it has to be installed again. */
  isDamaged?: boolean;
  /** Each entry is one dependency: the names that would satisfy it. */
  depends: string[][];
  /** Recommendations: what may stay away, and does not go alone once it is there. */
  recommends?: string[][];
  /**
   * The names under which its owner asked for it and that no other package meets, if they are not
   * its own name alone: they have to go with it.
   */
  askedAs?: readonly string[];
  /** The package comes by itself if all of these are there, and goes with each of them. */
  comesWith?: readonly string[];
  /** Virtual names that the package stands for. */
  provides: string[];
  /** When it was installed, Unix seconds; 0 if the database does not say. */
  installedAt: number;
}

/** A package of which no more is known, or was kept, than its version. */
export function knownByVersion(
  name: string,
  { version, state = 'installed' }: { version: string; state?: string },
): InstalledPackage {
  return {
    ...{ name, version, state, architecture: '', isAuto: false, isEssential: false },
    ...{ depends: [], provides: [], installedAt: 0 },
  };
}

export type PackageDatabase = ReadonlyMap<string, InstalledPackage>;

/** Whether the package's files are there, as the package manager lists what is installed. */
export function isPresent(entry: InstalledPackage | undefined): entry is InstalledPackage {
  return entry?.state === 'installed' || entry?.state === 'unpacked';
}

/** Whether a package is installed by its own name, or because another one stands for it. */
export function isInstalled(database: PackageDatabase, name: string): boolean {
  if (database.get(name)?.state === 'installed') return true;
  return [...database.values()].some(
    (entry) => entry.state === 'installed' && entry.provides.includes(name),
  );
}

/** Packages that a job brought, changed or found whole, and that are there and not configured. */
export function halfInstalled(before: PackageDatabase, after: PackageDatabase): InstalledPackage[] {
  return [...after.values()].filter(({ name, state, version }) => {
    const was = before.get(name);
    return state === 'unpacked' && (was?.state === 'installed' || was?.version !== version);
  });
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

/**
 * Of what the firmware's image brought (`image`): none of it came with a package that was installed
 * later, even if nobody asks for it any more. Only packages of the image itself take some along.
 */
export function imageToKeep(image: ReadonlySet<string>, targets: readonly string[]) {
  return targets.some((name) => image.has(name)) ? new Set<string>() : image;
}
