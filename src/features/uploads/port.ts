import type { Command } from '../../device/command.ts';

/** What a file's name ends with: `run` or the ending of the package manager's own files. */
export type UploadKind = string;

/** A program that installs by itself; any other kind is a package. */
export const PROGRAM: UploadKind = 'run';

/**
 * The folder where uploads wait for their job. Files have random names, whatever they were called
 * where they come from.
 */
export interface UploadFolder {
  /** The kinds that are accepted. */
  kinds: readonly UploadKind[];
  /** @throws DepotError unavailable if the folder is not the daemon's own */
  create: (kind: UploadKind) => Promise<UploadFile>;
  /**
   * Judges a file by its content. @throws DepotError bad_request that says what is wrong with it
   */
  inspect: (id: string, kind: UploadKind) => Promise<UploadContent>;
  /** Its absolute path. */
  fileOf: (id: string, kind: UploadKind) => string;
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
  /** @throws DepotError no_space if the disk is full */
  write: (piece: Uint8Array) => Promise<void>;
  /** Resolves when all of it is in the file. */
  finish: () => Promise<void>;
}

/** Of a package, its name and version. */
export interface UploadContent {
  package?: { name: string; version: string; installedBytes?: number | undefined };
}
