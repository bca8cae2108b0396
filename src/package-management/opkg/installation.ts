import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freeBytesOf } from '../../device/disk/space.ts';
import { isThere } from '../../device/is-there.ts';
import { lockHolderOf } from '../../device/lock-holder.ts';
import { findOwnFolder, openTrustedFolder } from '../../device/private-folder.ts';
import { DepotError, isCausedBy, succeeds } from '../../errors.ts';
import type { BackendContext } from '../manager.ts';
import { createConfigReader, type OpkgConfig } from './opkg-config.ts';
import { ownLockFile } from './changing/lock.ts';
import { findOrphans, removeOrphans, removeTemporaryFolders } from './recovery/orphaned-files.ts';
import { createStatusCopy } from './database/status-backup.ts';
import { createDatabaseReader } from './database/status-file.ts';

export type Installation = Awaited<ReturnType<typeof openInstallation>>;

/** opkg's own files on the device. */
export async function openInstallation({
  paths,
  environment,
}: Pick<BackendContext, 'paths' | 'environment'>) {
  const readConfig = createConfigReader(paths);
  const statusFiles = async (): Promise<string[]> => statusFilesIn(await readConfig());
  const lockFile = paths.onDevice('/var/lock/opkg.lock');
  const lockHolder = (): Promise<number | undefined> => lockHolderOf(lockFile, 'POSIX');
  const { read } = createDatabaseReader({
    statusFiles,
    isLocked: async () => (await lockHolder()) !== undefined,
    hasControl,
  });
  const [destination = paths.root] = (await readConfig()).destinations;
  const statusFile = statusFileIn(destination);
  const infoDir = join(dirname(statusFile), 'info');
  const orphanOptions = async (since: number) => {
    return { infoDir, destination, database: await read(), since };
  };
  return {
    environment,
    readConfig,
    /** The root that packages are installed to. */
    destination,
    /** The status file of that root. */
    statusFile,
    /** Folders of all status files. */
    statusFolders: (await readConfig()).destinations.map((each) => dirname(statusFileIn(each))),
    /** Folder of control files, lists of files and scripts. */
    infoDir,
    /** The database as of now; while opkg rewrites the file, the last good reading. */
    read,
    statusCopy: createStatusCopy(statusFile, paths.stateDir),
    /** Where opkg keeps its lock, for messages. */
    lockFile,
    /** A process id, 0 if the system does not tell it, undefined if nobody holds the lock. */
    lockHolder,
    /** Makes what opkg needs to start: its lock file, the folders of its lists and status files. */
    prepareFolders: async (): Promise<void> => {
      const { listsDir, destinations } = await readConfig();
      await openTrustedFolder(listsDir, 0o755);
      for (const each of destinations) await openStatusFolder(dirname(statusFileIn(each)));
      await ownLockFile(lockFile);
    },
    /** Bytes free for packages, where opkg itself looks. */
    freeBytes: async (): Promise<number> => {
      const { overlayRoot = destination } = await readConfig();
      return freeBytesOf(overlayRoot).catch(() => freeBytesOf(destination));
    },
    /** opkg removes the control file of a package that it removes, and no other. */
    hasControlFile: (name: string) => hasControl(statusFile, name),
    /** Packages whose files came after `since` (Unix seconds) and have no status entry. */
    findOrphans: async (since: number) => findOrphans(await orphanOptions(since)),
    removeOrphans: async (since: number): Promise<string[]> => {
      // With an offline root the folder is the host's, and so may be its opkg.
      if (paths.isLive) await removeTemporaryFolders(tmpdir(), since, lockHolder);
      return removeOrphans(await orphanOptions(since));
    },
  };
}

export function statusFileIn(destination: string): string {
  return join(destination, 'usr/lib/opkg/status');
}

/**
 * The status files that count, that of the first destination ahead. Others may lie where everybody
 * can write, as `ram` does in /tmp: what somebody else put there is nobody's record.
 */
export async function statusFilesIn({ destinations }: OpkgConfig): Promise<string[]> {
  const [first, ...others] = destinations.map(statusFileIn);
  const areOurs = await Promise.all(
    others.map((file) => succeeds(findOwnFolder(dirname(file), undefined))),
  );
  const ours = others.filter((_, index) => areOurs[index]);
  return first === undefined ? ours : [first, ...ours];
}

const STATUS_REMEDY =
  'opkg writes there as root: give that folder and those above it to root, or take the ' +
  "destination out of opkg's configuration.";

/** opkg writes the status file of each destination anew, also through a link. */
async function openStatusFolder(folder: string): Promise<void> {
  await findOwnFolder(folder, 0o755).catch((error: unknown) => {
    if (isCausedBy(error, ['EROFS'])) return;
    // The system's own reasons, such as a full disk, say enough.
    if (!(error instanceof DepotError) || error.cause !== undefined) throw error;
    const explanation = { code: 'unknown', remedy: STATUS_REMEDY };
    throw new DepotError(error.code, error.message, { cause: error, explanation });
  });
}

function hasControl(statusFile: string, name: string): Promise<boolean> {
  return isThere(join(dirname(statusFile), 'info', `${name}.control`));
}
