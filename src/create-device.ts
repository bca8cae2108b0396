import { mkdir, readFile, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Paths } from './device/paths.ts';
import { createAppFiles } from './features/app-status/scripts.ts';
import { createBlockDevices } from './features/disks/block-devices.ts';
import {
  createContainerHost,
  type ContainerHostOptions,
} from './features/container-data/create-device.ts';
import type { Host } from './device-ports.ts';
import type { PackageHost } from './features/packages/package-manager.ts';
import { createListsKeeper } from './features/packages/opkg/lists-backup.ts';
import { listMetaFiles } from './features/packages/meta-files.ts';
import { createNotes } from './device/notes.ts';
import {
  preferredArchitecture,
  readOpkgConfig,
  type OpkgConfig,
} from './features/packages/opkg/config.ts';
import { createDatabaseReader } from './features/packages/opkg/status-file.ts';
import { findAvailable } from './features/packages/opkg/lists.ts';
import { readLockHolder } from './features/packages/opkg/lock.ts';
import { createOpkgCommands } from './features/packages/opkg/commands.ts';
import {
  findStrays,
  removeStrays,
  removeTemporaryFolders,
} from './features/packages/opkg/orphaned-files.ts';
import { compareVersions } from './features/packages/opkg/compare-versions.ts';
import { createPassword } from './features/login/password.ts';
import { createProcesses } from './device/processes.ts';
import { createSelfUpgradeHost, type SelfUpgradeOptions } from './features/self-upgrade/watcher.ts';
import { claimState } from './device/sole-daemon.ts';
import { createUploadFolder } from './features/uploads/folder.ts';
import { copyFileIn, createStatusCopy } from './features/packages/opkg/status-backup.ts';
import { createPanelBus } from './features/login/panel-bus.ts';

export interface HostOptions {
  paths: Paths;
  /** What the device's programs get. */
  environment: Record<string, string>;
  selfUpgrade: Pick<SelfUpgradeOptions, 'limitSeconds' | 'healthAddress'>;
  container: ContainerHostOptions['settings'];
}

/** The real device below `paths`. */
export async function createHost(options: HostOptions): Promise<Host> {
  const { paths, environment } = options;
  const packages = await createPackageHost(options);
  const [destination = paths.root] = (await readOpkgConfig(paths)).destinations;
  const [processes, notes] = [createProcesses(), createNotes(paths.stateDir)];
  return {
    claimState: () => claimState(notes, processes),
    processes,
    packages,
    notes,
    apps: createAppFiles(paths, environment),
    blockDevices: createBlockDevices(environment),
    uploads: createUploadFolder(paths, { install: packages.commands.install, environment }),
    selfUpgrade: createSelfUpgradeHost({
      ...options.selfUpgrade,
      paths,
      environment,
      packages,
      destination,
      statusFile: statusFileOf(destination),
    }),
    container: createContainerHost({ paths, environment, settings: options.container }),
    panel: createPanelBus({ environment }),
    password: createPassword(paths.stateDir),
  };
}

async function createPackageHost({
  paths,
  environment,
}: {
  paths: Paths;
  environment: Record<string, string>;
}): Promise<PackageHost> {
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
      await mkdir(dirname(paths.opkg.lockFile), { recursive: true });
    },
    freeBytes: () => freeBytesOf(paths),
    statusCopy: createStatusCopy({ statusFile, copyFile: copyFileIn(paths.stateDir) }),
    lists: createListsKeeper(readConfig),
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
