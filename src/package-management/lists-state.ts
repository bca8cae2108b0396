import type { Job } from '../jobs/job.ts';
import { isPresent, type PackageDatabase } from './database.ts';
import type { FeedSettings } from './feed-settings.ts';
import { metaPackageOf } from './names.ts';

/** How far what the feeds offer is known. */
export interface ListsState {
  /** `missing`: of no feed that is on, as after a boot where they are in memory. */
  state: 'fresh' | 'old' | 'missing';
  /** When the oldest list was fetched, Unix seconds. */
  updatedAt?: number;
}

const OLD_MS = 7 * 86_400_000;

/** Said by a job that fetches them. */
export const LACKING_LISTS =
  'the lists of the feeds are not there, as after a boot: they are fetched first';
export const OLD_LISTS =
  'nothing newer is in the lists of the feeds, which are over a week old: they are fetched first';

/** @param now milliseconds since 1970 */
export async function readListsState(
  { read, stateOf }: Pick<FeedSettings, 'read' | 'stateOf'>,
  now = Date.now(),
): Promise<ListsState> {
  const feeds = (await read()).feeds.filter(({ isEnabled }) => isEnabled);
  const states = await Promise.all(feeds.map((feed) => stateOf(feed).catch(() => undefined)));
  const times = states.flatMap((known) => known?.updatedAt ?? []);
  // Without a feed there is nothing that could be missing.
  if (times.length === 0) return { state: feeds.length === 0 ? 'fresh' : 'missing' };
  const updatedAt = Math.min(...times);
  // By a clock that was far ahead they say as little as old ones.
  const isOld = Math.abs(now - updatedAt * 1000) > OLD_MS;
  return { state: isOld ? 'old' : 'fresh', updatedAt };
}

/** An app, or the package of that name. */
export function isThere(database: PackageDatabase, subject: string): boolean {
  return [metaPackageOf(subject), subject].some((name) => isPresent(database.get(name)));
}

/** An installation of what is installed needs nothing of any feed. */
export async function needsNoList(
  { kind, subject }: Pick<Job, 'kind' | 'subject'>,
  installed: () => Promise<PackageDatabase>,
): Promise<boolean> {
  return kind === 'install' && isThere(await installed(), subject);
}
