import type { Command } from '../../device/command.ts';

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
