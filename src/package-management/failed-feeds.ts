import { rm } from 'node:fs/promises';
import { timeLimit } from '../device/command.ts';
import { DepotError } from '../errors.ts';
import { isEnded, type Job } from '../jobs/job.ts';
import { isPresent, type PackageDatabase } from './database.ts';
import type { Failure } from './failure.ts';
import { fetchChecked, redirectOf, type FetchTools } from './fetch-files.ts';
import type { Feed, FeedSettings } from './feed-settings.ts';
import type { FailedFeed, FeedLists, WatchedLists } from './manager.ts';
import { metaPackageOf } from './names.ts';
import { ADVICE, createProblem, feedRemedyOf, type Problem, type ProblemCode } from './problem.ts';

/** How far what the feeds offer is known. */
export interface ListsState {
  /** `missing`: of no feed that is on, as after a boot where they are in memory. */
  state: 'fresh' | 'old' | 'missing';
  /** When the oldest list was fetched, Unix seconds. */
  updatedAt?: number;
  /** Feeds that are on and have no list, if others have theirs. */
  missing: readonly Feed[];
}

const OLD_MS = 7 * 86_400_000;

/** Sentence of a job that fetches missing lists. */
export const LACKING_LISTS =
  'the lists of the feeds are not there, as after a boot: they are fetched first';
export const OLD_LISTS =
  'nothing newer is in the lists of the feeds, which are over a week old: they are fetched first';
export const PARTIAL_LISTS =
  'a feed lacks its list, and the others do not have what is asked for: they are fetched first';

/** @param now milliseconds since 1970 */
export async function readListsState(
  { read, stateOf }: Pick<FeedSettings, 'read' | 'stateOf'>,
  now = Date.now(),
): Promise<ListsState> {
  const all = (await read()).feeds.filter(({ isEnabled }) => isEnabled);
  const states = await Promise.all(
    all.map(async (feed) => ({ feed, ...(await stateOf(feed).catch(() => undefined)) })),
  );
  const fetched = states.filter(({ isLocal }) => isLocal !== true);
  const times = fetched.flatMap((known) => known.updatedAt ?? []);
  // Without a feed there is nothing that could be missing.
  if (times.length === 0) return { state: fetched.length === 0 ? 'fresh' : 'missing', missing: [] };
  const missing = fetched.flatMap(({ feed, updatedAt }) => (updatedAt === undefined ? feed : []));
  const updatedAt = Math.min(...times);
  // Lists by a clock that was far ahead say as little as old ones.
  const isOld = Math.abs(now - updatedAt * 1000) > OLD_MS;
  return { state: isOld ? 'old' : 'fresh', updatedAt, missing };
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

/** `NAME (URL): REASON` of each, as the list of the feeds takes it apart again. */
export function describeFailed(failed: readonly FailedFeed[]): string {
  return failed.map(({ feed, reason }) => `${markOf(feed)}${reason}`).join('; ');
}

/** What stands before the reason of a feed. */
export function markOf({ name, url }: Pick<Feed, 'name' | 'url'>): string {
  return `${name} (${url}): `;
}

/** The newest job that has fetched lists, whether for themselves or for something else. */
export function lastFetch(jobs: readonly Job[]): Job | undefined {
  const hasFetched = ({ kind, state, errorCode }: Job): boolean =>
    (kind === 'update' && isEnded(state)) || errorCode === 'no_lists';
  return jobs.findLast(hasFetched);
}

/** The problem that there are no lists, with reason and advice of who failed to fetch them last. */
export function noListsProblem(last: Job | undefined, feeds: readonly Feed[]): Problem {
  const none = 'there are no package lists';
  if (last?.state !== 'failed' || last.error === undefined) {
    return createProblem('no_lists', `${none} since the device was started`);
  }
  const marks = feeds.map((feed) => last.error?.indexOf(markOf(feed)) ?? -1);
  const start = Math.min(...marks.filter((at) => at >= 0));
  const reason = Number.isFinite(start) ? last.error.slice(start) : last.error;
  const problem = createProblem('no_lists', `${none}, and the last update failed: ${reason}`);
  return { ...problem, remedy: last.remedy ?? problem.remedy };
}

/** Why no list could be updated; what is advised is for the first of them. */
export function feedFailure(failed: readonly FailedFeed[]): Failure {
  const { code = 'damaged_package', remedy = feedRemedyOf(code) } = failed[0] ?? {};
  return { code, reason: describeFailed(failed), remedy };
}

/** Why nothing can be chosen: no feed has a list, for the reasons that fetching them gave. */
export function noListsFailure(failed: readonly FailedFeed[]): Failure {
  if (failed.length === 0) {
    return { code: 'no_lists', reason: 'there are no package lists, and they cannot be fetched' };
  }
  const { reason: why, ...rest } = feedFailure(failed);
  const reason = `there are no package lists, and they cannot be fetched: ${why}`;
  return { ...rest, code: 'no_lists', reason };
}

/** A signature, and what is no list, may have several causes, which ask for different things. */
const AMBIGUOUS: readonly (ProblemCode | undefined)[] = ['signature', 'damaged_package', undefined];
/** A signature that could not be fetched. */
const SIGNATURE_FILE = /^[^)]*\.sig\): /;
/** More say the same, or keep the owner waiting. */
const MOST_EXPLAINED = 3;
const LIMIT_MS = 60_000;
/** How long a feed that has sent no list is not asked by who asks for another reason. */
const LEFT_ALONE_MS = 2 * 60_000;

/**
 * Package managers delete a list that they refuse, and do not say whether a web page came, the key
 * is not known, or the list was changed: those are fetched once more and looked at. Of what did not
 * come at all, a redirection may be the cause.
 */
export function explainingLists(
  lists: FeedLists,
  fetching: FetchTools & { feeds: FeedSettings },
): WatchedLists {
  /** By its address when a feed has last failed to send its list. */
  const failedAt = new Map<string, number>();
  const noteFailed = (failed: readonly FailedFeed[]): void =>
    failed.forEach(({ feed }) => failedAt.set(feed.url, performance.now()));
  return {
    ...lists,
    noteFailed,
    isWorthFetching: async () => {
      const { missing } = await readListsState(fetching.feeds);
      const since = performance.now() - LEFT_ALONE_MS;
      return (
        missing.length === 0 || missing.some(({ url }) => (failedAt.get(url) ?? -Infinity) < since)
      );
    },
    checkFetched: async (context) => {
      const failed = await lists.checkFetched(context);
      if (context === undefined) return failed;
      noteFailed(failed);
      const explained: FailedFeed[] = [];
      for (const [index, feed] of failed.entries()) {
        const isClear = !AMBIGUOUS.includes(feed.code) || feed.remedy !== undefined;
        if (index >= MOST_EXPLAINED) explained.push(feed);
        else if (feed.code === 'download_failed') {
          explained.push(await lookForRedirect(feed, fetching, context.signal));
        } else if (isClear) explained.push(feed);
        else explained.push(await lookAgain(feed, fetching, context.signal));
      }
      return explained;
    },
  };
}

async function lookForRedirect(failed: FailedFeed, { feeds }: FetchTools, signal: AbortSignal) {
  const { feed } = failed;
  const [list] = await feeds.filesOf(feed).catch(() => []);
  if (list === undefined) return failed;
  return { ...failed, ...(await redirectOf(feed, list.url, signal)) };
}

async function lookAgain(
  failed: FailedFeed,
  fetching: FetchTools,
  signal: AbortSignal,
): Promise<FailedFeed> {
  const { feed } = failed;
  try {
    const limited = AbortSignal.any([signal, timeLimit(LIMIT_MS)]);
    const folder = await fetchChecked(fetching, feed, { signal: limited });
    await rm(folder, { recursive: true, force: true });
    return failed;
  } catch (error) {
    if (!(error instanceof DepotError)) return failed;
    const { code, remedy } = error.explanation ?? {};
    if (failed.code === 'signature' && SIGNATURE_FILE.test(error.message)) {
      return { ...failed, remedy: ADVICE.unsigned };
    }
    if (code !== 'signature' && code !== 'damaged_package') return failed;
    const reason = error.message.replace(/^cannot use the feed .*?\): /, '');
    // A key that is damaged is named behind what the program said.
    const [, more = ''] = /(; .*)$/.exec(failed.reason) ?? [];
    return { feed, reason: `${reason}${more}`, code, ...(remedy !== undefined && { remedy }) };
  }
}
