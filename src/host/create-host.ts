import { mkdir, readFile, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Paths } from '../config/paths.ts';
import { createAppFiles } from './app-files.ts';
import { createBlockDevices } from './block-devices.ts';
import { createContainerHost, type ContainerHostOptions } from './create-container-host.ts';
import type { Host, PackageHost } from './host.ts';
import { createListsKeeper } from './lists-keeper.ts';
import { listMetaFiles } from './meta-files.ts';
import { createNotes } from './notes.ts';
import { preferredArchitecture, readOpkgConfig, type OpkgConfig } from './opkg-config.ts';
import { createDatabaseReader } from './opkg-database.ts';
import { findAvailable } from './opkg-lists.ts';
import { readLockHolder } from './opkg-lock.ts';
import { createOpkgCommands } from './opkg.ts';
import { findStrays, removeStrays, removeTemporaryFolders } from './opkg-strays.ts';
import { compareVersions } from './opkg-version.ts';
import { createPassword } from './password.ts';
import { createProcesses } from './processes.ts';
import { createSelfUpgradeHost, type SelfUpgradeOptions } from './self-upgrade.ts';
import { claimState } from './sole-daemon.ts';
import { createUploadFolder } from './upload-folder.ts';
import { copyFileIn, createStatusCopy } from './status-copy.ts';
import { createPanelBus } from './ubus.ts';

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
