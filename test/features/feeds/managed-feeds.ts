import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { createApkDevice } from '../../device/apk-device/apk-device.ts';
import { createApkFeedFiles, INDEX_NAME } from '../../device/apk-device/apk-index.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { createFeedOf, type Feed } from '../../device/feed.ts';
import { createFeedFiles } from '../../device/feed-index.ts';
import { createUsignPair } from '../../device/usign.ts';

/** A daemon, and a feed that it does not know yet: the same for every package manager. */
export interface ManagedFeeds {
  readonly root: string;
  readonly daemon: TestDaemon;
  /** Of the new feed; with a key if the device can be given one. */
  readonly params: Readonly<Record<string, string>>;
  /** Of the new feed's server. */
  readonly feed: Feed;
  readonly index: string;
  /** Relative to the root. */
  readonly custom: string;
  readonly folders: {
    readonly configuration: string;
    readonly keys: string;
    readonly lists: string;
    readonly fetched: string;
  };
  readonly close: () => Promise<void>;
}

const FETCHED = 'tmp/depotd';

/** Signed by a key that the device does not have. */
async function startOpkgFeeds(): Promise<ManagedFeeds> {
  const device = await createDevice();
  const pair = createUsignPair();
  const packages = [{ name: 'extra-tool', version: '1.0-1', architecture: 'all' }];
  const files = createFeedFiles(packages);
  const list = gunzipSync(files.get('Packages.gz') ?? Buffer.alloc(0));
  const feed = await createFeedOf(new Map([...files, ['Packages.sig', pair.sign(list)]]));
  await writeFile(join(device.root, 'etc/opkg/signed.conf'), 'option check_signature\n');
  const daemon = await startDaemon(device);
  return {
    root: device.root,
    daemon,
    params: { name: 'mine', url: feed.url, key: pair.publicKey },
    feed,
    index: 'Packages.gz',
    custom: 'etc/opkg/customfeeds.conf',
    folders: {
      configuration: 'etc/opkg',
      keys: 'etc/opkg/keys',
      lists: 'tmp/opkg-lists',
      fetched: FETCHED,
    },
    close: async () => {
      await daemon.close();
      await Promise.all([device.close(), feed.close()]);
    },
  };
}

const { APK, APK_FULL } = process.env;
const isReal = APK !== undefined && APK_FULL !== undefined;

/**
 * With the real apk an index as OpenWrt has them, signed by a key that the device does not have;
 * with the stand-in one by a key of the device, since of the second format the index names the file
 * of its key.
 */
export async function startApkFeeds(): Promise<ManagedFeeds> {
  const device = await createApkDevice();
  const other = isReal ? await createApkDevice({ maker: APK_FULL }) : undefined;
  const packages = [{ name: 'extra-tool', version: '1.0-r1', files: {} }];
  const feed = other?.feed ?? (await createFeedOf(createApkFeedFiles(packages)));
  const key = await other?.read('etc/apk/keys/lab.pem');
  const index = other === undefined ? INDEX_NAME : 'packages.adb';
  const daemon = await startDaemon(device);
  return {
    root: device.root,
    daemon,
    params: { name: 'mine', url: `${feed.url}/${index}`, ...(key === undefined ? {} : { key }) },
    feed,
    index,
    custom: 'etc/apk/repositories.d/customfeeds.list',
    folders: {
      configuration: 'etc/apk',
      keys: 'etc/apk/keys',
      lists: 'tmp/cache/apk',
      fetched: FETCHED,
    },
    close: async () => {
      await daemon.close();
      await Promise.all([device.close(), other?.close() ?? feed.close()]);
    },
  };
}

export const MANAGERS = [
  { manager: 'opkg', start: startOpkgFeeds },
  { manager: 'apk', start: startApkFeeds },
] as const;
