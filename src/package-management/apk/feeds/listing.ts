import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readPart } from '../../../device/owner-file.ts';
import {
  LISTING_LIMITS,
  pathsIn,
  type OfferedPackage,
  type PackageDescription,
  type PackageListing,
  type PackageRecord,
} from '../../listing.ts';
import { isPackageName } from '../../names.ts';
import { installTime } from '../database/install-time.ts';
import { readFields, readInstalled } from '../database/installed-db.ts';
import type { Installation } from '../installation.ts';
import {
  describeOffer,
  describeRecord,
  FIELDS,
  SUMMARY_FIELDS,
  summaryOf,
  type QueriedPackage,
} from './queried-package.ts';
import { readFeeds } from './feed-lines.ts';
import { indexVersion } from './index-files.ts';
import { queryOffers, type FeedSource } from './apk-query.ts';

/** What feeds offer, by indexes that apk alone can read, and its own record, read without it. */
export function createListing(source: FeedSource & Pick<Installation, 'reader'>): PackageListing {
  const { paths, locations } = source;
  return {
    version: () => indexVersion(paths, locations),
    read: async function* (names) {
      const wanted = names?.filter(isPackageName) ?? ['*'];
      if (wanted.length === 0) return;
      const nameOf = await feedNames(locations);
      const offers = new Readable({ objectMode: true, read: () => undefined });
      // Several feeds may offer the same build.
      const visit = (found: QueriedPackage, urls: readonly string[]): boolean => {
        for (const url of urls) offers.push({ ...describeOffer(found), feed: nameOf(url) });
        return !offers.destroyed;
      };
      void queryOffers(source, { names: wanted, fields: FIELDS }, visit).then(
        () => offers.push(null),
        (error: unknown) =>
          offers.destroy(error instanceof Error ? error : new Error(String(error))),
      );
      // A reader that has enough destroys the stream of offers.
      yield* offers as AsyncIterable<OfferedPackage>;
    },
    summarize: async (visit) => {
      const nameOf = await feedNames(locations);
      await queryOffers(source, { names: ['*'], fields: SUMMARY_FIELDS }, (found, urls) => {
        const summary = summaryOf(found);
        return urls.every((url) => visit({ ...summary, feed: nameOf(url) }));
      });
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
    record: (name) => readRecord(source, name),
  };
}

/** Names of feeds by their URLs. */
async function feedNames(locations: Installation['locations']): Promise<(url: string) => string> {
  const { feeds } = await readFeeds(locations.feeds);
  const names = new Map(feeds.map(({ url, name }) => [url, name]));
  return (url) => names.get(url) ?? url.slice(0, LISTING_LIMITS.lineCharacters);
}

async function readRecord(
  { locations, reader }: Pick<Installation, 'locations' | 'reader'>,
  name: string,
): Promise<PackageRecord | undefined> {
  if (!isPackageName(name) || !(await reader.records()).has(name)) return undefined;
  const { files } = await readFields(locations.installed, name);
  const list = join(locations.packages, `${name}.conffiles`);
  // No list of configuration files, a folder of that name, or a bad disk: nothing is known then.
  const config = await readPart(list, MOST_CONFFILES_BYTES).catch(() => '');
  return {
    files: pathsIn(files.map(({ path }) => `/${path}`).join('\n')),
    config: pathsIn(config.toString()),
    installedAt: await installTime(locations.packages, name),
  };
}

const MOST_CONFFILES_BYTES = 64 * 1024;
