/**
 * What the daemon may ask of the device it runs on: types only. The rooms above import these and never a tool's flags;
 * `create-host.ts` builds the real thing.
 */
export interface Host {
  processes: Processes;
  packages: PackageHost;
  notes: Notes;
  apps: AppFiles;
  blockDevices: BlockDeviceHost;
  uploads: UploadFolder;
  selfUpgrade: SelfUpgradeHost;
}

/** Small records that outlive the daemon and the boot: one JSON document a name, replaced as a whole. */
export interface Notes {
  /** undefined where there is none, or where it is no JSON. */
  read: (name: string) => Promise<unknown>;
  write: (name: string, value: unknown) => Promise<void>;
}

/** A program to run: an argument vector, never a shell string. The environment is the whole one that it gets. */
export interface Command {
  argv: [string, ...string[]];
  environment: Record<string, string>;
  /** Working folder. */
  cwd: string;
}

/** Names a process for ever: a process id alone is used again, with its start time and the boot it is not. */
export interface ProcessMark {
  pid: number;
  /** Start time in clock ticks after boot: field 22 of /proc/PID/stat (proc(5)). */
  startTicks: number;
  bootId: string;
  /** Whether the command sits behind script(1) on a pseudo-terminal. */
  isOnTerminal: boolean;
}

/** A command that is prepared and on hold until `go`. If the daemon dies before, the command never runs. */
export interface HeldProcess {
  mark: ProcessMark;
  go: () => void;
  /** Settles when the holder has ended while this daemon was its parent; a hint only, the exit file is the truth. */
  ended: Promise<void>;
}

export interface StartOptions {
  /** Marks every process of the job in its environment, so that strays are found. */
  jobId: string;
  command: Command;
  /** Output is appended here by the command itself: nothing passes through the daemon. */
  logFile: string;
  /** Gets the exit code in decimal, or `not-run`, by rename, when the command has ended. */
  exitFile: string;
}

export interface Processes {
  /** Identifies the time since the machine was started: /proc/sys/kernel/random/boot_id. */
  bootId: () => Promise<string>;
  /** Starts a command detached from the daemon, on a pseudo-terminal where script(1) is there, and holds it. */
  start: (options: StartOptions) => Promise<HeldProcess>;
  isAlive: (mark: ProcessMark) => Promise<boolean>;
  /** Sends a signal to every process of the job but those that hold it (so that the exit code is still written); returns how many there were. */
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
  /** The versions that the lists offer for these names, best first. Names that no list has are absent. */
  available: (names: readonly string[]) => Promise<Map<string, AvailablePackage[]>>;
  /** Compares as opkg does: negative, zero or positive. */
  compareVersions: (a: string, b: string) => number;
  commands: {
    install: (names: string[]) => Command;
    upgrade: (names: string[]) => Command;
    remove: (names: string[]) => Command;
    configure: (names: string[]) => Command;
    update: () => Command;
    /** Runs the script that configures an app after its installation; undefined where the app has none. */
    autoconf: (name: string, environment: Record<string, string>) => Promise<Command | undefined>;
  };
  /** Where opkg keeps its lock, for messages. */
  lockFile: string;
  /** Who holds opkg's lock: a process id, 0 where the system does not tell, undefined where nobody does. */
  lockHolder: () => Promise<number | undefined>;
  /** Makes what opkg needs to start (the folder of its lock). */
  prepare: () => Promise<void>;
  /** Bytes free for the device root. */
  freeBytes: () => Promise<number>;
  statusCopy: StatusCopy;
  lists: ListsKeeper;
  /** Whether opkg's folder still has the control file of a package: it has for every package but those that were removed. */
  hasControlFile: (name: string) => Promise<boolean>;
  /** Removes the files of packages that came after `since` (Unix seconds) and have no status entry: what a killed opkg leaves. */
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
  /** Checks each feed's new list; puts the old one back where the new one is bad; says which and why. */
  settle: () => Promise<{ feed: Feed; reason: string }[]>;
}

/** What apps have beside their packages: their configuration, and the scripts that tell their state. */
export interface AppFiles {
  /** A text that changes when the UCI file does; undefined where there is none. */
  configVersion: (uci: string) => Promise<string | undefined>;
  /** The same for the scripts that the app's state comes from; undefined where it has no entry script. */
  scriptVersion: (app: string) => Promise<string | undefined>;
  /** Runs the app's entry script: `NAME.sh status HOSTNAME`. It and all that it started are gone when this settles. */
  runEntryScript: (app: string, hostname: string, limits: ScriptLimits) => Promise<ScriptResult>;
}

export interface ScriptLimits {
  timeoutMs: number;
  /** Of both outputs together. */
  maxBytes: number;
  /** Ends the script at once. */
  signal: AbortSignal;
}

export interface ScriptResult {
  /** undefined where the program could not be started or did not end by itself. */
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
  /** Which limit ended it, if one did. */
  cutShortBy?: 'time' | 'output' | 'stop';
}

/** One block device, as the kernel and its own first blocks tell it. Texts are empty where nothing is known. */
export interface BlockDevice {
  /** Kernel name: `sda1`, `nvme0n1p2`, `dm-0`. */
  name: string;
  /** Device node: `/dev/sda1`, `/dev/mapper/vg-data`. */
  path: string;
  sizeBytes: number;
  /** What it holds: `ext4`, `swap`, `linux_raid_member` … */
  type: string;
  /** Version of that format. */
  version: string;
  label: string;
  uuid: string;
  /** Where it is mounted, the oldest mount first. */
  mounts: string[];
}

export interface BlockDeviceHost {
  /** A text that changes when a device comes, goes, changes its size or medium, or is mounted or unmounted. */
  fingerprint: () => Promise<string>;
  /** @throws DepotError internal where the system does not tell */
  list: () => Promise<BlockDevice[]>;
  /** Calls back once, when somebody writes to one of these device nodes (mkfs, a label); returns how to end it. */
  onceWritten: (paths: readonly string[], onWrite: () => void) => () => void;
}

/** `.ipk`: a package for opkg. `.run`: a program that installs by itself. */
export type UploadKind = 'ipk' | 'run';

/** The folder where uploads wait for their job. Files have random names, whatever they were called where they come from. */
export interface UploadFolder {
  /** @throws DepotError unavailable where the folder is not the daemon's own */
  create: (kind: UploadKind) => Promise<UploadFile>;
  /** Judges a file by its content. @throws DepotError bad_request that says what is wrong with it */
  inspect: (id: string, kind: UploadKind) => Promise<UploadContent>;
  /** The command that installs it. */
  installer: (id: string, kind: UploadKind) => Promise<Command>;
  remove: (id: string) => Promise<void>;
  /** The ids of all that is there. */
  list: () => Promise<string[]>;
  freeBytes: () => Promise<number>;
}

export interface UploadFile {
  /** 32 hexadecimal digits. */
  id: string;
  /** @throws DepotError no_space where the disk is full */
  write: (piece: Uint8Array) => Promise<void>;
  /** Resolves when all of it is in the file. */
  finish: () => Promise<void>;
}

/** Of an `.ipk`, the package that its control file names. */
export interface UploadContent {
  package?: { name: string; version: string };
}

/** Replaces the package that this daemon runs from, without it. */
export interface SelfUpgradeHost {
  /** Packs the package as it is installed into a file on flash, from which it can be put back. @throws DepotError internal, no_space */
  keep: (name: string) => Promise<void>;
  /** Upgrades the package and waits for the new daemon's health; ends with one of SELF_UPGRADE_EXITS. */
  command: (name: string) => Command;
  /** Removes the file that was kept. */
  forget: () => Promise<void>;
}
