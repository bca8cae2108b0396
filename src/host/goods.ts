/**
 * What the daemon may ask of the device beyond packages and processes: types only, like host.ts.
 */
import type { Command, RunLimits, RunResult } from './command.ts';

/**
 * What apps have beside their packages: their configuration, and the scripts that tell their state.
 */
export interface AppFiles {
  /** A text that changes when the UCI file does; undefined where there is none. */
  configVersion: (uci: string) => Promise<string | undefined>;
  /**
   * The same for the scripts that the app's state comes from; undefined where it has no entry
   * script.
   */
  scriptVersion: (app: string) => Promise<string | undefined>;
  /**
   * Runs the app's entry script: `NAME.sh status HOSTNAME`. It and all that it started are gone
   * when this settles.
   */
  runEntryScript: (app: string, hostname: string, limits: RunLimits) => Promise<RunResult>;
}

/**
 * One block device, as the kernel and its own first blocks tell it. Texts are empty where nothing
 * is known.
 */
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
  /**
   * A text that changes when a device comes, goes, changes its size or medium, or is mounted or
   * unmounted.
   */
  fingerprint: () => Promise<string>;
  /** @throws DepotError internal where the system does not tell */
  list: () => Promise<BlockDevice[]>;
  /**
   * Calls back once, when somebody writes to one of these device nodes (mkfs, a label); returns how
   * to end it.
   */
  onceWritten: (paths: readonly string[], onWrite: () => void) => () => void;
}

/** `.ipk`: a package for opkg. `.run`: a program that installs by itself. */
export type UploadKind = 'ipk' | 'run';

/**
 * The folder where uploads wait for their job. Files have random names, whatever they were called
 * where they come from.
 */
export interface UploadFolder {
  /** @throws DepotError unavailable where the folder is not the daemon's own */
  create: (kind: UploadKind) => Promise<UploadFile>;
  /**
   * Judges a file by its content. @throws DepotError bad_request that says what is wrong with it
   */
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
  /**
   * Packs the package as it is installed into a file on flash, from which it can be put back.
   * @throws DepotError internal, no_space
   */
  keep: (name: string) => Promise<void>;
  /**
   * Upgrades the package and waits for the new daemon's health; ends with one of
   * SELF_UPGRADE_EXITS.
   */
  command: (name: string) => Command;
  /**
   * Removes what was kept, unless it waits for a watcher: after a power cut one is called at boot.
   */
  forget: () => Promise<void>;
}
