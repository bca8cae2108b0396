import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as v from 'valibot';

import { readPart } from '../../../device/owner-file.ts';
import type { BackendContext } from '../../manager.ts';
import {
  LISTING_LIMITS,
  pathsIn,
  type PackageDescription,
  type PackageListing,
  type PackageRecord,
} from '../../listing.ts';
import { isPackageName } from '../../names.ts';
import {
  describeOffer,
  describeRecord,
  FIELDS,
  queriedPackage,
  readSummary,
  SUMMARY_FIELDS,
} from './describe.ts';
import { readFeeds } from './feeds.ts';
import { assertEnding, indexFiles } from './index-files.ts';
import type { Installation } from '../installation.ts';
import { readMasks } from './masks.ts';
import { queryFeeds } from './query.ts';
import { indexVersion, readArchitectures } from './offers.ts';
import { readFields, readInstalled } from '../database/installed-db.ts';

interface ListingOptions {
  paths: BackendContext['paths'];
  installation: Pick<Installation, 'locations' | 'commands' | 'reader'>;
}

/**
 * What the feeds' indexes offer, which apk alone can read, and what apk's record has of each
 * package, read without apk.
 */
export function createListing(options: ListingOptions): PackageListing {
  const { paths, installation } = options;
  const { locations } = installation;
  return {
    version: () => indexVersion(paths, locations),
    read: async function* (names) {
      const isAccepted = await acceptedIn(paths);
      const nameOf = await feedNames(locations);
      const { isMasked } = await readMasks(locations);
      const wanted = names?.filter(isPackageName) ?? ['*'];
      if (wanted.length === 0) return;
      for await (const found of query(options, wanted)) {
        const { success, output } = v.safeParse(queriedPackage, found);
        if (!success || !isPackageName(output.name) || !isAccepted(output.arch)) continue;
        // Several feeds may offer the same build.
        for (const url of output.repositories) {
          if (!isMasked(output.name, url)) yield describeOffer(output, nameOf(url));
        }
      }
    },
    summarize: async (visit) => {
      const isAccepted = await acceptedIn(paths);
      const nameOf = await feedNames(locations);
      const { isMasked } = await readMasks(locations);
      const onObject = (found: unknown): boolean => {
        const { arch, repositories, summary } = readSummary(found);
        if (!isPackageName(summary.name) || !isAccepted(arch)) return true;
        return repositories.every(
          (url) => isMasked(summary.name, url) || visit({ ...summary, feed: nameOf(url) }),
        );
      };
      assertEnding(await indexFiles(paths, locations));
      await queryFeeds(installation.commands, { names: ['*'], fields: SUMMARY_FIELDS, onObject });
    },
    readInstalled: async function* (names) {
      const wanted = new Set(names);
      const found: PackageDescription[] = [];
      await readInstalled(locations.installed, {
        onFields: (fields) => {
          if (wanted.has(fields.get('P') ?? '')) found.push(describeRecord(fields));
        },
      });
      yield* found;
    },
    record: (name) => readRecord(options, name),
  };
}

/** What apk says of each package. */
async function* query(
  { paths, installation: { commands, locations } }: ListingOptions,
  names: readonly string[],
): AsyncGenerator {
  assertEnding(await indexFiles(paths, locations));
  const objects = new Readable({ objectMode: true, read: () => undefined });
  const stopping = new AbortController();
  const onObject = (object: unknown): boolean => {
    objects.push(object);
    return true;
  };
  void queryFeeds(commands, { names, fields: FIELDS, onObject, signal: stopping.signal }).then(
    () => objects.push(null),
    (error: unknown) => objects.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  try {
    yield* objects as AsyncIterable<unknown>;
  } finally {
    stopping.abort();
  }
}

/** The architectures of packages that this device can install; any if it does not say. */
async function acceptedIn(paths: ListingOptions['paths']): Promise<(arch: string) => boolean> {
  const accepted = new Set([...(await readArchitectures(paths)), 'noarch']);
  return (arch) => accepted.size === 1 || accepted.has(arch);
}

/** Names of feeds by their URLs. */
async function feedNames(locations: Installation['locations']): Promise<(url: string) => string> {
  const { feeds } = await readFeeds(locations.feeds);
  const names = new Map(feeds.map(({ url, name }) => [url, name]));
  return (url) => names.get(url) ?? url.slice(0, LISTING_LIMITS.lineCharacters);
}

async function readRecord(
  { installation: { locations, reader } }: ListingOptions,
  name: string,
): Promise<PackageRecord | undefined> {
  if (!isPackageName(name) || !(await reader.records()).has(name)) return undefined;
  const { files } = await readFields(locations.installed, name);
  const list = join(locations.packages, name);
  // None, a folder of that name, or a disk that fails: nothing is known then.
  const config = await readPart(`${list}.conffiles`, MOST_CONFFILES_BYTES).catch(() => '');
  return {
    files: pathsIn(files.map(({ path }) => `/${path}`).join('\n')),
    config: pathsIn(config.toString()),
    installedAt: await changedAt(`${list}.list`),
  };
}

const MOST_CONFFILES_BYTES = 64 * 1024;

/** apk records no time of installation: the list's inode changed when it was put there. */
async function changedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ ctimeMs }) => Math.floor(ctimeMs / 1000),
    () => 0,
  );
}
