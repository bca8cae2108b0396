import type { Command } from '../device/command.ts';
import type { Paths } from '../device/paths.ts';
import type { Act, Step, StepContext } from '../jobs/plan.ts';
import type { Notes } from '../device/ports.ts';
import type { HealthReport } from '../http/health-report.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { Feed, FeedSettings } from './feed-settings.ts';
import type { FileRecord, PackageListing } from './listing.ts';
import type { FailedCommand, Failure } from './failure.ts';
import type { PackageDatabase } from './database.ts';
import type { Preview, PreviewedChange } from './preview.ts';
import type { ProblemCode } from './problem.ts';

/** Jobs of every feature that changes packages stand in one line: there is one package database. */
export const PACKAGE_LANE = 'package';

/** What a package manager can do, in the product's words; a folder beside this file holds each. */
export interface PackageManager {
  /** The program, as people know it. */
  name: string;
  /** Folders in which a change means that the database changed. */
  watchedFolders: readonly string[];
  metaFolders: readonly string[];
  /**
   * The database as of now, read without the program and without waiting for its lock; while the
   * program rewrites it, the last good reading.
   */
  installed: () => Promise<PackageDatabase>;
  /**
   * At the start and after each change, while no job changes packages: copies the database as it
   * is, if nothing of it is damaged, or lets go what keeps depotd itself from upgrades.
   */
  atRest?: () => Promise<void>;
  /** What tells two builds of a version apart, by name of what is installed. Default: nothing. */
  builds?: () => Promise<ReadonlyMap<string, string>>;
  /**
   * The versions of these names that feeds' lists offer to this device, the best ones, best first.
   * Names that no list has are absent.
   */
  offers: (names: readonly string[]) => Promise<Map<string, Offer[]>>;
  /** What feeds offer with all that is said of it, and what is on record of what is installed. */
  listing: PackageListing;
  /** Compares as the program does: negative, zero or positive. */
  compareVersions: (a: string, b: string) => number;
  /** The architecture that it prefers, such as `x86_64`; empty if nothing names one. */
  architecture: () => Promise<string>;
  /**
   * Whether changes may begin. A job would find out, too, but only after it has waited for others.
   * @throws DepotError unavailable that says what is damaged, and the remedy
   */
  assertUsable: () => Promise<void>;
  /** What people should know of the state of the packages. */
  health: () => Promise<HealthReport>;
  /**
   * What it would do for a change, by its own rules, and what stands against that. Fetches nothing,
   * changes nothing, writes nothing below the device's root, waits for no lock, and works while a
   * job runs.
   */
  preview: (change: PackageChange) => Promise<Preview>;
  /** Bytes free for packages, where the program looks. */
  freeBytes: () => Promise<number>;
  imagePackages: () => Promise<ReadonlySet<string>>;
  /**
   * Its own hold on a package that is installed, set or let go: no feed upgrades it meanwhile. An
   * installation from a file may set it, too.
   * @param hold `isAuto`: once let go it counts as a dependency, or not; default: as it did before
   */
  setHold: (name: string, hold: { isHeld: boolean; isAuto?: boolean }) => Promise<void>;
  /**
   * Whether it weighs all that is installed before a change: if it ends well and leaves a package
   * as it was, something else keeps that one back.
   */
  isSolver: boolean;
  /** What the program said of a failure, if anything: a hint for people, which decides nothing. */
  explain: (command: FailedCommand) => Promise<Failure | undefined>;
  commands: PackageCommands;
  /** What has to happen around a command that changes packages, and in the repair. */
  around: TransactionSteps;
  lists: WatchedLists;
  feeds: FeedSettings;
  files: PackageFiles;
  selfUpgrade: SelfUpgradeSupport;
  /** Loaded when something is to be put back, or may have to be. */
  restoration: () => Promise<Restoration>;
  diagnosis: Diagnosis;
  fileRecords: () => AsyncIterable<FileRecord>;
}

/** A version of a package that a feed offers and this device can install. */
export interface Offer {
  name: string;
  version: string;
}

/** A change of packages, as a plan decides on it. */
export interface PackageChange {
  verb: 'install' | 'upgrade' | 'remove';
  names: readonly string[];
  /** A package file to install instead: its absolute path, and the package in it. */
  file?: { path: string; name: string; installedBytes?: number | undefined };
  /** Whether names to be removed need each other in a circle, and nothing else needs them. */
  isCircle?: boolean;
}

export interface PackageCommands {
  install: (names: readonly string[]) => Command;
  upgrade: (names: readonly string[]) => Command;
  /** @param isCircle as in PackageChange: none of them could go first */
  remove: (names: readonly string[], isCircle?: boolean) => Command;
  /** Finishes packages that are unpacked and not configured. */
  configure: (names: readonly string[]) => Command;
  /** Fetches the lists of what the feeds offer. */
  update: () => Command;
  /** Fetches the files of packages into a folder, and nothing else. */
  fetch: (names: readonly string[], folder: string) => Command;
  /** A package file, by its absolute path. `isOlder`: in the place of a newer version. */
  installFile: (file: string, isOlder?: boolean) => Command;
  /** The command as people would type it, to be shown. */
  shown: (change: PackageChange) => string;
}

/** What is said when lists that are there are fetched all the same; undefined if they are not. */
export type RefetchNote = () => Promise<string | undefined>;

/** Every function is safe to be called again after a crash. */
export interface TransactionSteps {
  /**
   * Ahead of everything, also of the choice: what has to be there for it. Default: nothing.
   * @param choosesFromFeeds whether the choice goes by what the feeds offer
   * @param refetchNote says why lists that are there do not do; undefined if they do
   */
  first?: (choosesFromFeeds: boolean, refetchNote?: RefetchNote) => readonly Step[];
  /** @throws DepotError no_space if there is too little for any change */
  needSpace: (purpose: string) => Promise<void>;
  /**
   * Before the command: waits for whoever else changes packages, puts a damaged database right and
   * remembers it as it is. A command that was shut out goes back to the first of these steps.
   * @param changeIn what was decided on; undefined if nobody knows, as with an owner's program
   * @param further `keep`: keeps what goes, once what that is has been decided; `readies`: as in
   *   Act, for the step behind which the command is settled
   */
  before: (
    changeIn: (context: StepContext) => PackageChange | undefined,
    further?: { keep?: Act; readies?: string },
  ) => [Act, ...Step[]];
  /** What the steps before the command have found that it does. Default: `preview` tells. */
  planned?: (context: StepContext) => Promise<readonly PlannedPackage[]>;
  /** In a repair, behind its commands: what a power cut damaged is put right. */
  mendDamage?: readonly Step[];
  /** Behind the command, ahead of the judgement: what makes that last which it did. */
  after?: readonly Step[];
  /** Folders of the file systems that the command changes, and that it writes down behind it. */
  roots: () => Promise<readonly string[]>;
  /** Looks after the command while it runs. @returns how to stop that */
  supervise?: (context: StepContext) => () => void;
  /** The database as `before` found it; undefined if it has not come so far. */
  databaseBefore: () => Promise<PackageDatabase | undefined>;
  /** Whether the command did nothing because somebody else was at work, and is to be run again. */
  wasShutOut: (context: StepContext) => Promise<boolean>;
  /**
   * After the command: puts the database right.
   * @returns what was wrong with it, or with what the command brought, if anything was
   */
  mend: (context: StepContext) => Promise<Failure | undefined>;
  /** The job is judged well: from now on its outcome is what a later repair goes back to. */
  accept: () => Promise<void>;
  /** Steps at the end of each job, however it ended. */
  cleanUp: () => Step[];
  /**
   * Like `before`, ahead of the commands of a repair: what was remembered stays.
   * @returns what of the repair may be done
   */
  beforeRepair: (context: StepContext, repair: Repair) => Promise<Repair>;
  /**
   * Removes what a killed program left since then (Unix seconds) and no database knows.
   * @returns the packages that it belonged to
   */
  removeOrphans: (context: StepContext, since: number) => Promise<string[]>;
}

export type PlannedPackage = Pick<PreviewedChange, 'action' | 'name' | 'diskBytes'>;
export interface Repair {
  /** Packages to be removed again. */
  came: readonly string[];
  /** Packages to be configured once more. */
  half: readonly string[];
}

/** The lists of what feeds offer. One that cannot be fetched well leaves the one that was there. */
export interface FeedLists {
  /** Keeps the lists that are there, before new ones are fetched. */
  backUp: () => Promise<void>;
  /**
   * After the fetch: the feeds that sent no good list, and why; their old lists are back. Called
   * again, it says the same.
   * @param context of the job that fetched them: some managers tell it in their output alone
   */
  checkFetched: (context?: Pick<StepContext, 'printed' | 'signal'>) => Promise<FailedFeed[]>;
  /** Drops what was kept. */
  forget: () => Promise<void>;
}

/** The same, and which feeds have failed of late. */
export interface WatchedLists extends FeedLists {
  noteFailed: (failed: readonly FailedFeed[]) => void;
  /** Whether lists that are missing beside others may come: false shortly after all have failed. */
  isWorthFetching: () => Promise<boolean>;
}

export interface FailedFeed {
  feed: Feed;
  reason: string;
  /** Code of the failure; default `damaged_package`: no list that can be used was sent. */
  code?: ProblemCode;
  /** What the owner can do; default: the remedy of the code. */
  remedy?: string;
}
export interface PackageFiles {
  /** How the names of such files end, without the dot: `ipk` or `apk`. */
  ending: string;
  /**
   * Judges a file by its content.
   * @param mostBytes bounds what it may unpack to
   * @throws DepotError bad_request that says what is wrong with it
   */
  inspect: (file: string, mostBytes: number) => Promise<InspectedFile>;
}
export interface InspectedFile {
  name: string;
  version: string;
  /** Each entry is one dependency: the names that would satisfy it. */
  depends: readonly (readonly string[])[];
  /** Bytes that the package takes when it is installed; absent if it does not say. */
  installedBytes?: number | undefined;
}

/** What the self-upgrade needs, which goes on while no daemon runs. */
export interface SelfUpgradeSupport {
  /** Packs an installed package into a file it can be put back from. @throws DepotError internal */
  pack: (name: string, target: string) => Promise<void>;
  /** Text of shell functions (POSIX sh); self-upgrade/watch.sh says which. */
  script: string;
  /** Settings of the self-upgrade, a line each, which `read_manager_settings` reads. */
  settings: readonly string[];
}

/**
 * Puts packages back as they were before a job of several transactions: from files that
 * `SelfUpgradeSupport.pack` made of them, or from feeds.
 */
export interface Restoration {
  /** What is on record of packages that no file has, for `finish`; absent ones are left out. */
  recordsOf: (names: readonly string[]) => Promise<Map<string, string>>;
  /**
   * Installs these files of one folder, by their absolute paths, whatever versions are there. What
   * it needs beside them it writes there.
   */
  installFiles: (files: readonly string[]) => Promise<Command>;
  /** Installs just these versions, which feeds must offer as their best. */
  installOffered: (offers: readonly Offer[]) => Command;
  /**
   * Puts on record again what was, of packages that are back in the version that they had. Safe to
   * be called again.
   */
  finish: (records: ReadonlyMap<string, string>) => Promise<void>;
}
export interface PackageBackend {
  name: string;
  /** The file that has its packages on record. */
  record: string;
  /** Where its program is; of two managers in use the one that has its program counts. */
  programs?: readonly string[];
  create: (context: BackendContext) => Promise<PackageManager>;
}

export interface BackendContext {
  paths: Paths;
  /** The whole environment that the device's programs get. */
  environment: Record<string, string>;
  /** The environment for scripts of packages, which have to know another root than `/`. */
  scriptEnvironment: Record<string, string>;
  notes: Notes;
}
