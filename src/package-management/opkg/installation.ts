import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freeBytesOf } from '../../device/disk/space.ts';
import { isThere } from '../../device/is-there.ts';
import { openTrustedFolder } from '../../device/private-folder.ts';
import type { PackageDatabase } from '../database.ts';
import type { BackendContext } from '../manager.ts';
import { createConfigReader, type OpkgConfig } from './config.ts';
import { ownLockFile, readLockHolder } from './changing/lock.ts';
import { findOrphans, removeOrphans, removeTemporaryFolders } from './recovery/orphaned-files.ts';
import { createStatusCopy, type StatusCopy } from './database/status-backup.ts';
import { createDatabaseReader } from './database/status-file.ts';

/** opkg's own files on the device. */
export interface Installation {
  environment: Record<string, string>;
  readConfig: () => Promise<OpkgConfig>;
  /** The root that packages are installed to. */
  destination: string;
  /** Of that root. */
  statusFile: string;
  /** Folders of all status files. */
  statusFolders: string[];
  /** Folder of control files, lists of files and scripts. */
  infoDir: string;
  /** The database as of now; while opkg rewrites the file, the last good reading. */
  read: () => Promise<PackageDatabase>;
  statusCopy: StatusCopy;
  /** Where opkg keeps its lock, for messages. */
  lockFile: string;
  /** A process id, 0 if the system does not tell it, undefined if nobody holds the lock. */
  lockHolder: () => Promise<number | undefined>;
  /** Makes what opkg needs to start: its lock file and the folder of its lists. */
  prepareFolders: () => Promise<void>;
  /** Bytes free for the device root. */
  freeBytes: () => Promise<number>;
  /** opkg removes the control file of a package that it removes, and no other. */
  hasControlFile: (name: string) => Promise<boolean>;
  /** Packages whose files came after `since` (Unix seconds) and have no status entry. */
  findOrphans: (since: number) => Promise<string[]>;
  removeOrphans: (since: number) => Promise<string[]>;
}

export async function openInstallation({
  paths,
  environment,
}: Pick<BackendContext, 'paths' | 'environment'>): Promise<Installation> {
  const readConfig = createConfigReader(paths);
  const statusFiles = async (): Promise<string[]> =>
    (await readConfig()).destinations.map(statusFileIn);
  const lockFile = paths.onDevice('/var/lock/opkg.lock');
  const lockHolder = (): Promise<number | undefined> => readLockHolder(lockFile);
  const { read } = createDatabaseReader({
    statusFiles,
    isLocked: async () => (await lockHolder()) !== undefined,
    hasControl,
  });
  const [destination = paths.root] = (await readConfig()).destinations;
  const statusFile = statusFileIn(destination);
  const infoDir = join(dirname(statusFile), 'info');
  const orphanOptions = async (since: number) => ({
    infoDir,
    destination,
    database: await read(),
    since,
  });
  return {
    environment,
    readConfig,
    destination,
    statusFile,
    statusFolders: (await statusFiles()).map((file) => dirname(file)),
    infoDir,
    read,
    statusCopy: createStatusCopy(statusFile, paths.stateDir),
    lockFile,
    lockHolder,
    prepareFolders: async () => {
      await openTrustedFolder((await readConfig()).listsDir, 0o755);
      await ownLockFile(lockFile);
    },
    freeBytes: () => freeBytesOf(paths.root),
    hasControlFile: (name) => hasControl(statusFile, name),
    findOrphans: async (since) => findOrphans(await orphanOptions(since)),
    removeOrphans: async (since) => {
      // With an offline root the folder is the host's, and so may be its opkg.
      if (paths.isLive) await removeTemporaryFolders(tmpdir(), since, lockHolder);
      return removeOrphans(await orphanOptions(since));
    },
  };
}

export function statusFileIn(destination: string): string {
  return join(destination, 'usr/lib/opkg/status');
}

function hasControl(statusFile: string, name: string): Promise<boolean> {
  return isThere(join(dirname(statusFile), 'info', `${name}.control`));
}
