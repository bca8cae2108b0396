import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { toApkPackage } from './apk-conversion.ts';
import { parseApkDatabase, type ApkRecord } from './apk-database.ts';
import {
  createApkFeedFiles,
  INDEX_NAME,
  publicKey,
  type ApkFeedPackage,
  type IndexSigner,
} from './apk-index.ts';
import { BASE_SYSTEM, createApkRoot } from './apk-root.ts';
import { createThirdFormatMaker, THIRD_INDEX_NAME } from './apk-third-format.ts';
import { runCommand, startCommand, type Outcome, type RunningCommand } from '../command.ts';
import { createFeedOf, type Feed } from '../feed.ts';
import type { FeedPackage } from '../feed-index.ts';
import type { FeedVersion } from '../packages/packages.ts';
import { usualPackages } from '../packages/usual-packages.ts';
import { createProgramFolder, SINGLE_TRY_WGET } from '../program-folder.ts';

export interface ApkDeviceOptions {
  /** An existing folder to lay the device out in; by default a new temporary one. */
  directory?: string;
  /** Default 1. */
  feedVersion?: FeedVersion;
  /** Put into the feed besides the usual ones; one of the same name takes the other's place. */
  packages?: readonly ApkFeedPackage[];
  /**
   * An apk with mkpkg and mkndx, such as the one that the variable APK_FULL names: the feed is then
   * in apk's third format, as OpenWrt's are. The stand-in cannot read it.
   */
  maker?: string;
  /** The apk to use; by default the one that the variable APK names, or else the stand-in. */
  apk?: string;
}

export interface ApkDevice {
  readonly root: string;
  readonly feed: Feed;
  /** A value for PATH in which apk is found first. */
  readonly path: string;
  /** This process's environment with that PATH, and the root that scripts work on. */
  readonly env: NodeJS.ProcessEnv;
  readonly apk: (...args: readonly string[]) => Promise<Outcome>;
  /** The same, to be signalled or watched while it runs. */
  readonly startApk: (...args: readonly string[]) => RunningCommand;
  /** Puts the feed into its other version; the device learns of it when it updates. */
  readonly publish: (feedVersion: FeedVersion, signer?: IndexSigner) => void;
  /** The same with other further packages; only in the second format. */
  readonly publishPackages: (
    packages: readonly ApkFeedPackage[],
    feedVersion?: FeedVersion,
  ) => void;
  /** What is installed, by package name. */
  readonly database: () => Promise<Map<string, ApkRecord>>;
  /** The lines of the world file: what the owner asked for. */
  readonly world: () => Promise<string[]>;
  /** The content of a file on the device, or nothing. */
  readonly read: (path: string) => Promise<string | undefined>;
  /** Stops the feed and removes the folder. */
  readonly close: () => Promise<void>;
}

/**
 * A device in a folder with apk. Nothing is installed but the base system, and no index has been
 * fetched.
 */
export async function createApkDevice(options: ApkDeviceOptions = {}): Promise<ApkDevice> {
  const { packages = [], feedVersion = 1 } = options;
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'depotd-device-')));
  const root = join(directory, 'root');
  const source = await createSource(packages, options.maker);
  const feed = await createFeedOf(source.filesOf(feedVersion));
  await createApkRoot(root, { ...source, feedUrl: feed.url });
  const path = await createPath(directory, options.apk ?? process.env.APK);
  const env = { ...process.env, PATH: path, IPKG_INSTROOT: root, TMPDIR: join(root, 'tmp') };
  const apkWords = (args: readonly string[]): [string, ...string[]] => [
    'apk',
    '--root',
    root,
    ...args,
  ];

  return {
    root,
    feed,
    path,
    env,
    apk: (...args) => runCommand(apkWords(args), { env, cwd: join(root, 'mnt') }),
    startApk: (...args) => startCommand(apkWords(args), { env, cwd: join(root, 'mnt') }),
    publish: (version, signer) => feed.publishFiles(source.filesOf(version, signer)),
    publishPackages: (others, version = 1) =>
      feed.publishFiles(createApkFeedFiles(apkFeedPackages(version, others))),
    database: async () =>
      parseApkDatabase(await readFile(join(root, 'lib/apk/db/installed'), 'utf8')),
    world: async () =>
      (await readFile(join(root, 'etc/apk/world'), 'utf8'))
        .split('\n')
        .filter((line) => line !== ''),
    read: (file) => readFile(join(root, file), 'utf8').catch(() => undefined),
    close: async () => {
      await feed.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** Where a device's feed comes from, in either format. */
interface FeedSource {
  indexName: string;
  publicKey: string;
  filesOf: (version: FeedVersion, signer?: IndexSigner) => Map<string, Buffer>;
}

async function createSource(
  packages: readonly ApkFeedPackage[],
  program: string | undefined,
): Promise<FeedSource> {
  const packagesOf = (version: FeedVersion): ApkFeedPackage[] => apkFeedPackages(version, packages);
  if (program === undefined) {
    return {
      indexName: INDEX_NAME,
      publicKey: publicKey(),
      filesOf: (version, signer) => createApkFeedFiles(packagesOf(version), signer),
    };
  }
  const maker = createThirdFormatMaker(program);
  const [first, second] = [
    await maker.createFiles(packagesOf(1)),
    await maker.createFiles(packagesOf(2)),
  ];
  return {
    indexName: THIRD_INDEX_NAME,
    publicKey: maker.publicKey,
    filesOf: (version) => (version === 1 ? first : second),
  };
}

const converted = new WeakMap<FeedPackage, ApkFeedPackage>();

function convertOnce(source: FeedPackage): ApkFeedPackage {
  const its = converted.get(source) ?? toApkPackage(source);
  converted.set(source, its);
  return its;
}

/** The base system, and the packages of the tests with opkg as apk's. */
export function apkFeedPackages(
  version: FeedVersion,
  further: readonly ApkFeedPackage[] = [],
): ApkFeedPackage[] {
  const usual = [
    ...BASE_SYSTEM,
    ...usualPackages(version)
      .filter(({ name }) => name !== 'recopkg')
      .map(convertOnce),
  ];
  const replaced = new Set(further.map(({ name }) => name));
  return [...usual.filter(({ name }) => !replaced.has(name)), ...further];
}

const STAND_IN = join(import.meta.dirname, '../bin-apk/apk');

/**
 * Scripts run on the host and learn from their environment which root is theirs, since the folder
 * has no shell to run them in.
 */
function createPath(directory: string, apk = STAND_IN): Promise<string> {
  return createProgramFolder(directory, {
    ...SINGLE_TRY_WGET,
    apk: `exec '${apk}' --force-no-chroot --preserve-env "$@"`,
  });
}
