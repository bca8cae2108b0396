import type { MountEntry } from '../../device/disk/mounts.ts';
/**
 * What the daemon may ask about the container engine and its data: types only, no flags of tools.
 */
import type { Command } from '../../device/command.ts';

export interface ContainerHost {
  engine: ContainerEngine;
  settings: DataRootSettings;
  locations: Locations;
  copier: Copier;
  moves: MoveFolders;
}

/**
 * How the engine answers a question: `leavesContainers` if they go on when it stops
 * (live-restore); `silent` if somebody has its socket and does not answer (yet), `absent` if
 * nobody has it.
 */
export type EngineState =
  | { kind: 'answers'; dataRoot: string; driver: string; leavesContainers: boolean }
  | { kind: 'silent' }
  | { kind: 'absent' };

export interface ContainerSummary {
  id: string;
  name: string;
}

/** One container as the engine has it. */
export interface ContainerState {
  isRunning: boolean;
  /** Removed by the engine as soon as it ends, and so with each stop of the engine. */
  isRemovedAtEnd: boolean;
  exitCode: number;
  /** Milliseconds since 1970; 0 if it never ran. */
  startedAt: number;
}

/**
 * A program that was started outside of the job: it goes on whatever becomes of the job or the
 * daemon.
 */
export interface Launch {
  /**
   * Settles when it, and whatever has its output open, has ended while this daemon was its parent.
   */
  ended: Promise<void>;
}

export interface ContainerEngine {
  /** Never waits longer than some seconds. */
  state: () => Promise<EngineState>;
  /** What starts and stops it, for messages. @throws DepotError unavailable if nothing does */
  serviceManager: () => Promise<string>;
  /** @throws DepotError unavailable, here and below, if the engine does not answer */
  running: () => Promise<ContainerSummary[]>;
  /**
   * Whether its service manager lets it take the time to end its containers: procd kills it after
   * some seconds, and they go on alone.
   */
  isSlowToStop: () => Promise<boolean>;
  /** undefined if the engine does not know it. */
  inspect: (id: string) => Promise<ContainerState | undefined>;
  /** Resolves when it has ended, by the time-out of its own. */
  stopContainer: (id: string) => Promise<void>;
  /** @returns why it could not be started, if so */
  startContainer: (id: string) => Promise<string | undefined>;
  /**
   * Runs the service manager's command; what it prints is added to the file, 64 KiB of it at most.
   */
  start: (outputFile: string) => Promise<Launch>;
  stop: (outputFile: string) => Promise<Launch>;
  /** Processes that work in the data root, whether or not the engine answers. */
  holders: (dataRoot: string) => Promise<Holder[]>;
}

/** An engine, the part of it that outlives its crash, or a container. */
export interface Holder {
  /** `process 123 (dockerd)` */
  text: string;
  /** The container that it belongs to. */
  container?: string;
}

/** Where the engine's data root is set. */
export interface DataRootSetting {
  path: string;
  /** The file that a switch writes. */
  file: string;
  kind: 'uci' | 'json';
  /** The file as it is; undefined if there is none. */
  text?: string | undefined;
}

/** … and what there is to know of it. */
export interface KnownSetting extends DataRootSetting {
  /**
   * A file of the administrator's own that takes the place of these settings:
   * `dockerd.globals.alt_config_file`.
   */
  elsewhere: string | undefined;
  /** If UCI has changes to it that are not committed, and so would come back. */
  uncommittedFile: string | undefined;
}

export interface DataRootSettings {
  /** @throws DepotError internal if a file is there and cannot be read */
  read: () => Promise<KnownSetting>;
  /**
   * Sets another path where the setting was read, and leaves all else in the file alone; on the
   * medium when it resolves.
   */
  write: (setting: DataRootSetting, path: string) => Promise<void>;
  /**
   * Undoes `write`: the file is what it was, but for what somebody else has changed in it since.
   */
  restore: (setting: DataRootSetting, written: string) => Promise<void>;
}

/** Too long for a path, from the folder on (MOST_PATH_BYTES). */
export interface LongPath {
  /** The folder that was walked. */
  folder: string;
  /** The first bytes of the path below it. */
  start: string;
}

/** What a path leads to. Of a path that is not there, its nearest folder that is. */
export interface Location {
  path: string;
  /** Without symbolic links, as far as it is there. */
  real: string;
  kind: 'folder' | 'file' | 'nothing';
  mount: MountEntry;
  /** The same for every way that leads to it: bind mounts, links, subvolumes. */
  location: { device: string; path: string };
  freeBytes: number;
  /** undefined if the file system makes them as needed. */
  freeInodes: number | undefined;
  /**
   * What all files of the file system take; undefined if that says nothing about a copy of them.
   */
  used: { bytes: number; inodes: number } | undefined;
}

export interface Locations {
  /** @throws DepotError bad_request if the path leads nowhere: through a circle of links, say */
  inspect: (path: string) => Promise<Location>;
  /** The mounts that hold `/` and `/overlay`. */
  system: () => Promise<MountEntry[]>;
  /** What is mounted below a folder, itself left out. */
  mountsBelow: (folder: string) => Promise<MountEntry[]>;
  /** btrfs subvolumes below a folder on one file system. */
  subvolumesBelow: (folder: string) => Promise<string[]>;
  /**
   * What the files below a folder take on its file system. Walks all of it. @throws DepotError
   * internal
   */
  usage: (folder: string) => Promise<{ bytes: number; inodes: number }>;
  /** A path below a folder that is too long to be copied, if there is one. */
  longPath: (folder: string) => Promise<LongPath | undefined>;
}

/**
 * A pass of the copy: while containers run; what changed since then; all that differs; and one that
 * only looks for differences.
 */
export type CopyPass = 'live' | 'changed' | 'differing' | 'compare';

export interface CopyRequest {
  source: string;
  /**
   * Folder of the move at the target; what it holds and the source has not is deleted, and nothing
   * else is.
   */
  folder: string;
  /** What there is to copy, for the percentage; 0 if it is not known. */
  totalBytes: number;
}

/** What a pass has said of itself. */
export interface CopyReport {
  /** Of the source. */
  files: number;
  bytes: number;
  /** Things in the copy, counted there. */
  copied: number;
  /** Things that a pass would still change. */
  differences: number;
}

export interface Copier {
  /** @returns why this device cannot copy container data, if so */
  fault: () => Promise<string | undefined>;
  command: (pass: CopyPass, request: CopyRequest) => Promise<Command>;
  /** Removes a folder and all below it. */
  removal: (folder: string) => Command;
  percentIn: (tail: string) => number | undefined;
  /** Of a comparison; undefined if the output has no report. */
  reportIn: (output: string) => CopyReport | undefined;
}

/** What a target holds, without what an earlier move has left there. */
export interface TargetContent {
  isEmpty: boolean;
  /** A move's own folder is there. */
  hasMove: boolean;
}

/** The folder of a move in its target: all that is copied is below it until it is put in place. */
export interface MoveFolders {
  inspect: (target: string) => Promise<TargetContent>;
  /** Where it lies in a target. */
  folderIn: (target: string) => string;
  /**
   * Makes it, the target too; one that an earlier move has left is taken over, whatever it had put
   * in place being taken back first.
   * @returns the uppermost folder that had to be made for the target, and what `restore` returns
   */
  prepare: (
    target: string,
    job: string,
  ) => Promise<{ created: string | undefined; left: string | undefined }>;
  /**
   * @throws DepotError unavailable if it is not there: the disk is not mounted any more, or
   *   another one is
   */
  need: (target: string, job: string) => Promise<void>;
  isThere: (target: string, job: string) => Promise<boolean>;
  /**
   * Lets the copy's containers find in the target what they have in the data root: the engine
   * writes down the whole paths of their volumes and logs.
   */
  redirect: (target: string, sources: readonly string[]) => Promise<void>;
  /**
   * Moves what the target holds aside and the copy in its place, with the source's owner and mode;
   * safe to do again.
   */
  place: (target: string, source: string) => Promise<void>;
  /** Notes how the copy in its place looks before an engine can work with it. */
  noteSwitch: (target: string) => Promise<void>;
  /**
   * Notes that an engine has worked with the copy: from now on there may be in it what is nowhere
   * else. @throws DepotError unavailable, like `need`
   */
  noteRun: (target: string, job: string) => Promise<void>;
  /**
   * Undoes `place`, wherever it was broken off; safe to do again.
   * @returns where the copy is left for good, if an engine has worked with it; no later move
   *   touches it
   */
  restore: (target: string) => Promise<string | undefined>;
  /** Whether nothing of what the target held is still aside. */
  isRestored: (target: string) => Promise<boolean>;
  /** Removes the folders that `prepare` made, as far as they are empty. */
  tidy: (target: string, created: string) => Promise<void>;
  /**
   * After this the copy stays, and what was set aside is only to be removed. @returns the folder to
   * remove
   */
  finish: (target: string) => Promise<string>;
}
