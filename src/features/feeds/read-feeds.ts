import type { Job } from '../../jobs/job.ts';
import { lastFetch, markOf } from '../../package-management/failed-feeds.ts';
import type { FeedState } from '../../package-management/feed-settings.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import type { NoUpgrades } from '../../package-management/no-upgrades.ts';
import type { FeedAnswer, FeedItem } from './documentation.ts';

/** Reads feeds, keys and lists as they are; nothing is fetched. */
export function createFeedReader(
  { feeds: settings, listing }: Pick<PackageManager, 'feeds' | 'listing'>,
  noUpgrades: NoUpgrades,
  queue: { all: () => readonly Job[] },
): () => Promise<FeedAnswer> {
  const count = createCounter(listing);
  return async () => {
    const [{ feeds, garbage }, keys] = await Promise.all([settings.read(), settings.keys()]);
    const counts = await count().catch(() => undefined);
    const failed = lastFetch(queue.all());
    const withoutUpgrades = await noUpgrades.read();
    const items = feeds.map(async (feed): Promise<FeedItem> => {
      const { name, url, kind, isEnabled } = feed;
      const { updatedAt, keyId } = await settings.stateOf(feed).catch((): FeedState => ({}));
      const isCounted = isEnabled && updatedAt !== undefined;
      return {
        name,
        url,
        kind,
        enabled: isEnabled,
        upgrades: withoutUpgrades.has(name) ? false : undefined,
        updated_at: updatedAt,
        packages: isCounted ? counts && (counts.get(name) ?? 0) : undefined,
        ...(isEnabled ? errorOf(failed, { name, url, updatedAt }) : {}),
        key: keyId,
      };
    });
    return { feeds: await Promise.all(items), keys, problems: [...garbage] };
  };
}

/** Packages by feed; counted anew when the lists change. */
function createCounter(listing: PackageManager['listing']) {
  let known: { version: string; counts: ReadonlyMap<string, number> } | undefined;
  return async (): Promise<ReadonlyMap<string, number>> => {
    const version = await listing.version();
    if (known?.version !== version) {
      const counts = new Map<string, number>();
      await listing.summarize(({ feed }) => {
        counts.set(feed, (counts.get(feed) ?? 0) + 1);
        return true;
      });
      known = { version, counts };
    }
    return known.counts;
  };
}

/** Who fetched lists last names each feed that failed: `NAME (URL): REASON`, with `; ` between. */
function errorOf(
  job: Job | undefined,
  { name, url, updatedAt = 0 }: { name: string; url: string; updatedAt: number | undefined },
): Pick<FeedItem, 'error' | 'remedy'> | undefined {
  const mark = markOf({ name, url });
  const at = job?.error?.indexOf(mark) ?? -1;
  if (job?.error === undefined || at < 0 || (job.stoppedAt ?? 0) < updatedAt) return undefined;
  const [error = ''] = job.error.slice(at + mark.length).split('; ');
  return { error, remedy: job.remedy };
}
