import { readFile, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Paths } from '../../../device/paths.ts';
import { openTrustedFolder } from '../../../device/private-folder.ts';
import type { FeatureContext } from '../../feature.ts';
import type { PackageHost } from '../package-manager.ts';
import { listMetaFiles } from '../meta-files.ts';
import { createOpkgCommands } from './commands.ts';
import { compareVersions } from './compare-versions.ts';
import { preferredArchitecture, readOpkgConfig, type OpkgConfig } from './config.ts';
import { createListsKeeper } from './lists-backup.ts';
import { findAvailable } from './lists.ts';
import { ownLockFile, readLockHolder } from './lock.ts';
import { findStrays, removeStrays, removeTemporaryFolders } from './orphaned-files.ts';
import { packInstalled } from './repack.ts';
import { copyFileIn, createStatusCopy } from './status-backup.ts';
import { createDatabaseReader } from './status-file.ts';

/** opkg on the device, and its database read without it. */
export async function createOpkg({
  paths,
  environment,
  notes,
}: Pick<FeatureContext, 'paths' | 'environment' | 'notes'>): Promise<PackageHost> {
  const readConfig = (): Promise<OpkgConfig> => readOpkgConfig(paths);
  const statusFiles = async (): Promise<string[]> =>
    (await readConfig()).destinations.map(statusFileOf);
  const lockHolder = (): Promise<number | undefined> => readLockHolder(paths.opkg.lockFile);
  const hasControl = (status: string, name: string): Promise<boolean> =>
    stat(join(dirname(status), 'info', `${name}.control`)).then(
      () => true,
      () => false,
    );
  const database = createDatabaseReader({
    statusFiles,
    isLocked: async () => (await lockHolder()) !== undefined,
    hasControl,
  });
  const watchedFiles = await statusFiles();
  const [statusFile = statusFileOf(paths.root)] = watchedFiles;
  const destination = dirname(dirname(dirname(dirname(statusFile))));
  const strayOptions = async (since: number) => ({
    infoDir: join(dirname(statusFile), 'info'),
    destination,
    database: await database.read(),
    since,
  });
  return {
    watchedFolders: [paths.opkg.metaDir, ...watchedFiles.map((file) => dirname(file))],
    metaFiles: () => listMetaFiles(paths.opkg.metaDir),
    readMetaFile: (name) => readFile(join(paths.opkg.metaDir, `${name}.json`), 'utf8'),
    architecture: async () => preferredArchitecture(await readConfig()),
    lockFile: paths.opkg.lockFile,
    read: database.read,
    available: async (names) => findAvailable(await readConfig(), names),
    compareVersions,
    commands: createOpkgCommands(paths, environment),
    lockHolder,
    prepare: async () => {
      await openTrustedFolder((await readConfig()).listsDir, 0o755);
      await ownLockFile(paths.opkg.lockFile);
    },
    freeBytes: () => freeBytesOf(paths),
    statusFile,
    pack: (name, target) =>
      packInstalled({
        name,
        infoDir: join(dirname(statusFile), 'info'),
        destination,
        target,
        environment,
      }),
    statusCopy: createStatusCopy({ statusFile, copyFile: copyFileIn(paths.stateDir) }),
    lists: createListsKeeper({ readConfig, notes }),
    hasControlFile: (name) => hasControl(statusFile, name),
    findStrays: async (since) => findStrays(await strayOptions(since)),
    removeStrays: async (since) => {
      // With an offline root the folder is the host's, and so may be its opkg.
      if (paths.isLive) await removeTemporaryFolders(tmpdir(), since, lockHolder);
      return removeStrays(await strayOptions(since));
    },
  };
}

function statusFileOf(destination: string): string {
  return join(destination, 'usr/lib/opkg/status');
}

/** Bytes that an ordinary process may still use on the file system of the device root. */
async function freeBytesOf({ root }: Paths): Promise<number> {
  const { bavail, bsize } = await statfs(root);
  return bavail * bsize;
}
