import type { Command } from './command.ts';
import type { ContainerHost } from './container-goods.ts';
import type { AppFiles, BlockDeviceHost, SelfUpgradeHost, UploadFolder } from './goods.ts';

/**
 * What the daemon may ask of the device it runs on: types only. The rooms above import these and
 * never a tool's flags; `create-host.ts` builds the real thing.
 */
export interface Host {
  /**
   * Waits until no other daemon works with the state folder. @throws DepotError unavailable where
   * one goes on
   */
  claimState: () => Promise<void>;
  processes: Processes;
  packages: PackageHost;
  notes: Notes;
  apps: AppFiles;
  blockDevices: BlockDeviceHost;
  uploads: UploadFolder;
  selfUpgrade: SelfUpgradeHost;
  container: ContainerHost;
  panel: PanelBus;
  password: Password;
}

/** The log-in sessions of the device's admin panel. */
export interface PanelBus {
  /**
   * Renews the session's idle time. `isKnown` says that it was valid a moment ago: then it does not
   * stand behind those who may be anybody.
   * @returns undefined where the panel knows no such session, or nobody has logged in to it
   * @throws DepotError unavailable where the panel cannot be asked
   */
  findLogin: (session: { id: string; isKnown: boolean }) => Promise<PanelLogin | undefined>;
}

export interface PanelLogin {
  username: string;
  /** The panel's own request-forgery token. */
  token: string;
}

/**
 * The password of the daemon's own log-in. @throws DepotError unavailable where its record cannot
 * be read
 */
export interface Password {
  isSet: () => Promise<boolean>;
  /** false where none is set. Takes a good part of a second. */
  matches: (text: string) => Promise<boolean>;
  set: (text: string) => Promise<void>;
}

/**
 * Small records that outlive the daemon and the boot: one JSON document a name, replaced as a
 * whole.
 */
export interface Notes {
  /** undefined where there is none, or where it is no JSON. */
  read: (name: string) => Promise<unknown>;
  write: (name: string, value: unknown) => Promise<void>;
}

/**
 * Names a process for ever: a process id alone is used again, with its start time and the boot it
 * is not.
 */
export interface ProcessMark {
  pid: number;
  /** Start time in clock ticks after boot: field 22 of /proc/PID/stat (proc(5)). */
  startTicks: number;
  bootId: string;
  /** Whether the command sits behind script(1) on a pseudo-terminal. */
  isOnTerminal: boolean;
}

/**
 * A command that is prepared and on hold until `go`. If the daemon dies before, the command never
 * runs.
 */
export interface HeldProcess {
  mark: ProcessMark;
  go: () => void;
  /** Lets it end without the command. */
  drop: () => void;
  /**
   * Settles when the holder has ended while this daemon was its parent; a hint only, the exit file
   * is the truth.
   */
  ended: Promise<void>;
}

export interface StartOptions {
  /** Marks every process of the job in its environment, so that strays are found. */
  jobId: string;
  command: Command;
  /** Output is appended here by the command itself: nothing passes through the daemon. */
  logFile: string;
  /**
   * Begins, once it is there (by rename, when the command has ended), with a line that holds the
   * exit code in decimal or `not-run`, and one that holds the holder's process id.
   */
  exitFile: string;
}

export interface Processes {
  /** Identifies the time since the machine was started: /proc/sys/kernel/random/boot_id. */
  bootId: () => Promise<string>;
  /**
   * Starts a command detached from the daemon, on a pseudo-terminal where script(1) is there, and
   * holds it.
   */
  start: (options: StartOptions) => Promise<HeldProcess>;
  isAlive: (mark: ProcessMark) => Promise<boolean>;
  /**
   * Sends a signal to every process of the job but those that hold it (so that the exit code is
   * still written); returns how many there were.
   */
  signal: (job: { jobId: string; mark: ProcessMark }, signal: NodeJS.Signals) => Promise<number>;
  /** How many processes of the job there are, without those that hold it. */
  count: (job: { jobId: string; mark: ProcessMark }) => Promise<number>;
  /** Ends the holder itself, after all else has failed. */
  killHolder: (mark: ProcessMark) => Promise<void>;
}

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
