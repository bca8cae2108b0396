/**
 * What there is to install, and what is said of it. Nothing of it is kept in memory by the package
 * manager. Invariants:
 *  - lists and records are outside data: texts are cut, counts are bounded, and of a list that is
 *    damaged, what stands before the fault is given;
 *  - nothing is locked, fetched or changed.
 */
export interface PackageListing {
  /** Changes with whatever changes the answer of `read`. */
  version: () => Promise<string>;
  /**
   * What feeds' lists offer to this device: of these names or all; each version of each feed,
   * unsorted.
   * @throws DepotError unavailable if no list can be read at all
   */
  read: (names?: readonly string[]) => AsyncIterable<OfferedPackage>;
  /**
   * The same of all that the lists offer, and of each what a list shows: ten thousand take a third
   * of the time. Until `visit` says false.
   * @throws DepotError as `read` does
   */
  summarize: (visit: (offer: PackageSummary) => boolean) => Promise<void>;
  /** What the device's own records say of these packages, as far as they are installed. */
  readInstalled: (names: readonly string[]) => AsyncIterable<PackageDescription>;
  /** Files and configuration of an installed package; undefined if there is no record of it. */
  record: (name: string) => Promise<PackageRecord | undefined>;
}

/** A version of a package as its maintainer describes it; texts not given are empty, numbers 0. */
export interface PackageDescription {
  name: string;
  version: string;
  section: string;
  /** Plain text; lines are separated by line breaks. */
  description: string;
  tags: readonly string[];
  /** Size of the package file. */
  downloadBytes: number;
  /** Sizes of its files together. */
  installedBytes: number;
  /** Each entry is one dependency: the names that would satisfy it. */
  depends: string[][];
  /** Virtual names that the package stands for. */
  provides: string[];
  /** Names that must not be installed beside it. */
  conflicts: string[];
  isEssential: boolean;
  homepage: string;
  license: string;
  maintainer: string;
  /** When it was built, Unix seconds. */
  time: number;
  /** SHA-256 of the package file, if whoever fetches it has to check that. */
  sha256?: string | undefined;
}

export interface OfferedPackage extends PackageDescription {
  /** Name of the feed. */
  feed: string;
}

/** `depends` is left empty but of the packages of apps. */
export type PackageSummary = Omit<
  OfferedPackage,
  'provides' | 'conflicts' | 'isEssential' | 'homepage' | 'license' | 'maintainer' | 'sha256'
>;

/** Paths are absolute on the device, whatever its root. */
export interface PackageRecord {
  files: readonly string[];
  /** Configuration files, which an upgrade and a removal leave as their owner has them. */
  config: readonly string[];
  /** When it was installed, Unix seconds; 0 if nothing says it. */
  installedAt: number;
}

/** What a package manager has on record of one file of a package. */
export interface FileRecord {
  owner: string;
  /** Absolute on the device, whatever its root. */
  path: string;
  /** Whether its owner may change the file. */
  isConfig: boolean;
  /** The hash of the content, of a link that of its target. Cut hashes have fewer digits. */
  hash?: { algorithm: 'md5' | 'sha1' | 'sha256'; digits: string };
  mode?: number;
  uid?: number;
  /**
   * Where there is no hash: the time that the builder gives all files of the package (0: unknown),
   * and that of the installation. Unix seconds.
   */
  times?: { built: number; installed: number };
}

/** The most that counts of what a list or a record says: more is no mistake, but nobody's need. */
export const LISTING_LIMITS = {
  /** The most that is read of one list, unpacked. */
  listBytes: 64 * 1024 ** 2,
  /** The most that is read of one package's paragraph in a list. */
  paragraphBytes: 256 * 1024,
  descriptionCharacters: 4000,
  lineCharacters: 300,
  /** Most dependencies, virtual names, tags and the like, each. */
  entries: 500,
  files: 20_000,
} as const;

/** One line of text, cut. */
export function cutLine(text: string): string {
  const end = text.indexOf('\n');
  const line = (end === -1 ? text : text.slice(0, end)).trim();
  return line.slice(0, LISTING_LIMITS.lineCharacters);
}

/** Cut to entries that fit. */
export function cutEntries<Entry>(entries: Entry[]): Entry[] {
  return entries.slice(0, LISTING_LIMITS.entries);
}

/** A whole number that is not negative; anything else is 0. */
export function countIn(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

const LISTED_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[^/\0\ufffd]+)+$/;

/** The absolute, normalised paths in a list with one a line, a tab behind it or not. */
export function pathsIn(text: string): string[] {
  const paths: string[] = [];
  for (const line of text.split('\n')) {
    const [path = ''] = line.split('\t', 1);
    if (path.length <= 4096 && LISTED_PATH.test(path)) paths.push(path);
    if (paths.length === LISTING_LIMITS.files) break;
  }
  return paths;
}
