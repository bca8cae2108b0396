import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { runCommand, startCommand, type Outcome, type RunningCommand } from './command.ts';
import { createFeed, type Feed } from './feed.ts';
import type { FeedPackage } from './feed-index.ts';
import type { FeedVersion } from './packages/packages.ts';
import { usualPackages } from './packages/usual-packages.ts';
import { createProgramFolder, SINGLE_TRY_WGET } from './program-folder.ts';
import { createRoot } from './root.ts';
import { parseStatusFile, type PackageRecord } from './status-file.ts';

export interface DeviceOptions {
  /** An existing folder to lay the device out in; by default a new temporary one. */
  directory?: string;
  /** Default 1. */
  feedVersion?: FeedVersion;
  /** Put into the feed besides the usual ones; one of the same name takes the other's place. */
  packages?: readonly FeedPackage[];
  /** Whether the feed has the usual packages, too; default true. */
  hasUsual?: boolean;
  /** Whether opkg checks the feed's signature; default false. */
  isSigned?: boolean;
  /** The opkg to use; by default the one that the variable OPKG names, or else the stand-in. */
  opkg?: string;
}

export interface Device {
  readonly root: string;
  readonly feed: Feed;
  /** A value for PATH in which opkg is found first. */
  readonly path: string;
  /**
   * This process's environment with that PATH, and what scripts in an offline root have to be told.
   */
  readonly env: NodeJS.ProcessEnv;
  readonly opkg: (...args: readonly string[]) => Promise<Outcome>;
  /** The same, to be signalled or watched while it runs. */
  readonly startOpkg: (...args: readonly string[]) => RunningCommand;
  /** Puts the feed into its other version; the device learns of it when it updates. */
  readonly publish: (feedVersion: FeedVersion) => void;
  /** The status file by package name. */
  readonly database: () => Promise<Map<string, PackageRecord>>;
  /** The content of a file on the device, or nothing. */
  readonly read: (path: string) => Promise<string | undefined>;
  /** Stops the feed and removes the folder. */
  readonly close: () => Promise<void>;
}

/** A device in a folder. Nothing is installed but libc, and no list has been fetched. */
export async function createDevice(options: DeviceOptions = {}): Promise<Device> {
  const { isSigned = false, feedVersion = 1 } = options;
  const offered = (version: FeedVersion): FeedPackage[] => feedPackages(version, options);
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'depotd-device-')));
  const root = join(directory, 'root');
  const feed = await createFeed(offered(feedVersion));
  await createRoot(root, { feedUrl: feed.url, isSigned });
  const path = await createPath(directory, options.opkg ?? process.env.OPKG);
  const env = { ...process.env, PATH: path, IPKG_INSTROOT: root, TMPDIR: join(root, 'tmp') };
  const opkgWords = (args: readonly string[]): [string, ...string[]] => [
    'opkg',
    '-o',
    root,
    '--force-postinstall',
    ...args,
  ];

  return {
    root,
    feed,
    path,
    env,
    opkg: (...args) => runCommand(opkgWords(args), { env, cwd: root }),
    startOpkg: (...args) => startCommand(opkgWords(args), { env, cwd: root }),
    publish: (version) => feed.publish(offered(version)),
    database: async () =>
      parseStatusFile(await readFile(join(root, 'usr/lib/opkg/status'), 'utf8')),
    read: (file) => readFile(join(root, file), 'utf8').catch(() => undefined),
    close: async () => {
      await feed.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

function feedPackages(
  version: FeedVersion,
  { packages = [], hasUsual = true }: DeviceOptions,
): FeedPackage[] {
  const usual = hasUsual ? usualPackages(version) : [];
  const replaced = new Set(packages.map(({ name }) => name));
  return [...usual.filter(({ name }) => !replaced.has(name)), ...packages];
}

async function createPath(directory: string, opkg: string | undefined): Promise<string> {
  if (opkg === undefined) {
    return [join(import.meta.dirname, 'bin'), process.env.PATH ?? ''].join(delimiter);
  }
  const path = await createProgramFolder(directory, SINGLE_TRY_WGET);
  // A script would give it another name, which its usage begins with.
  await symlink(opkg, join(directory, 'bin/opkg'));
  return path;
}
