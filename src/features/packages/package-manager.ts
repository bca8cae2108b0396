import type { Command } from '../../device/command.ts';

/** Jobs of every feature that changes packages stand in one line: there is one package database. */
export const PACKAGE_LANE = 'package';

/** One package as opkg's status file has it. */
export interface InstalledPackage {
  name: string;
  version: string;
  architecture: string;
  /** Third word of `Status`: `installed`, `unpacked`, `half-installed`, `not-installed` … */
  state: string;
  isAuto: boolean;
  isEssential: boolean;
  /** Each entry is one dependency: the names that would satisfy it. */
  depends: string[][];
  /** Virtual names that the package stands for. */
  provides: string[];
  /** Unix seconds; 0 where the file does not say. */
  installedAt: number;
}

export type PackageDatabase = ReadonlyMap<string, InstalledPackage>;

/** A version of a package that a feed offers and this device can install. */
export interface AvailablePackage {
  name: string;
  version: string;
}

export interface Feed {
  name: string;
  url: string;
}

/** opkg, and its database read without it. */
export interface PackageHost {
  /** Folders in which a change means that the database or an app meta file changed. */
  watchedFolders: string[];
  /** The app meta files: what is there, and what one holds. `version` changes with the content. */
  metaFiles: () => Promise<{ name: string; version: string }[]>;
  readMetaFile: (name: string) => Promise<string>;
  /** The database as of now; while opkg rewrites the file, the last good reading. */
  read: () => Promise<PackageDatabase>;
  /**
   * The versions that the lists offer for these names, best first. Names that no list has are
   * absent.
   */
  available: (names: readonly string[]) => Promise<Map<string, AvailablePackage[]>>;
  /** Compares as opkg does: negative, zero or positive. */
  compareVersions: (a: string, b: string) => number;
  commands: {
    install: (names: string[]) => Command;
    upgrade: (names: string[]) => Command;
    remove: (names: string[]) => Command;
    configure: (names: string[]) => Command;
    update: () => Command;
    /**
     * Runs the script that configures an app after its installation; undefined where the app has
     * none.
     */
    autoconf: (name: string, environment: Record<string, string>) => Promise<Command | undefined>;
  };
  /**
   * The architecture that opkg prefers, such as `x86_64`; empty where neither its configuration nor
   * the release names one.
   */
  architecture: () => Promise<string>;
  /** Where opkg keeps its lock, for messages. */
  lockFile: string;
  /**
   * Who holds opkg's lock: a process id, 0 where the system does not tell, undefined where nobody
   * does.
   */
  lockHolder: () => Promise<number | undefined>;
  /** Makes what opkg needs to start (the folder of its lock). */
  prepare: () => Promise<void>;
  /** Bytes free for the device root. */
  freeBytes: () => Promise<number>;
  /** The status file that `statusCopy` copies. */
  statusFile: string;
  /**
   * Packs a package as it is installed into a file from which it can be put back.
   * @throws DepotError internal
   */
  pack: (name: string, target: string) => Promise<void>;
  statusCopy: StatusCopy;
  lists: ListsKeeper;
  /**
   * Whether opkg's folder still has the control file of a package: it has for every package but
   * those that were removed.
   */
  hasControlFile: (name: string) => Promise<boolean>;
  /**
   * The packages whose files came after `since` (Unix seconds) and have no status entry: those of a
   * killed opkg, or of one that runs.
   */
  findStrays: (since: number) => Promise<string[]>;
  /**
   * Removes the files of packages that came after `since` (Unix seconds) and have no status entry:
   * what a killed opkg leaves; on the device itself its folder in /tmp, too.
   */
  removeStrays: (since: number) => Promise<string[]>;
}

/** The copy of the status file that is taken before each package job. */
export interface StatusCopy {
  save: () => Promise<void>;
  /** The database as it was when saved; undefined where nothing was saved. */
  read: () => Promise<PackageDatabase | undefined>;
  /** Whether the status file in use can be read to its end. */
  isIntact: () => Promise<boolean>;
  restore: () => Promise<void>;
}

/** The package lists, kept aside while opkg fetches new ones. */
export interface ListsKeeper {
  keep: () => Promise<void>;
  /**
   * Checks each feed's new list; puts the old one back where the new one is bad; says which and
   * why. Done again, it says the same.
   */
  settle: () => Promise<FailedFeed[]>;
  /** Drops what was kept, once what `settle` said has been told. */
  forget: () => Promise<void>;
}

export interface FailedFeed {
  feed: Feed;
  reason: string;
}
