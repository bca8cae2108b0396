import { rm } from 'node:fs/promises';
import * as v from 'valibot';
import { DepotError, reasonOf } from '../../errors.ts';
import type { Job } from '../../jobs/job.ts';
import { slots } from '../../jobs/memory.ts';
import { lateAct, plainAct, recordedAct, type Plan, type StepContext } from '../../jobs/plan.ts';
import type { FeatureContext } from '../feature.ts';
import type {
  ConfiguredFeed,
  Feed,
  FeedChange,
  FeedSettings,
} from '../../package-management/feed-settings.ts';
import type { NoUpgrades } from '../../package-management/no-upgrades.ts';
import type { UndoCopies } from '../../package-management/undo/undo-copies.ts';
import { feedScope } from '../../package-management/undo/kept-folder.ts';
import { fetchChecked } from '../../package-management/fetch-files.ts';

export interface FeedTools extends Pick<FeatureContext, 'paths' | 'environment'> {
  feeds: FeedSettings;
  undo: UndoCopies;
  noUpgrades: NoUpgrades;
}

/** What the check leaves for the step behind it. */
const checked = slots('the feed', {
  name: v.string(),
  url: v.string(),
  folder: v.optional(v.string()),
  /** The name of the file of a key that was not trusted before. */
  newKey: v.optional(v.string()),
});

/**
 * A change of the feeds: everything is fetched and checked before a file is written, and each file
 * is replaced as a whole. The list comes into its place first, then the key, then the line that
 * makes both count: whatever ends the job in between leaves the feeds as they were.
 */
export function changePlan(tools: FeedTools, job: Job): Plan {
  const { feeds, undo, noUpgrades } = tools;
  const scope = feedScope(tools, tools.paths);
  const isComing = job.kind === 'add_feed' || job.params.enabled === '1';
  const dropFetched = async (context: StepContext): Promise<undefined> => {
    const { folder } = checked.find(context) ?? {};
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  return {
    steps: [
      recordedAct('check', 'check', async (context) => {
        const { folder, ...feed } = await choose(tools, isComing, context);
        const { key } = job.params;
        const bringsKey = folder !== undefined && key !== undefined;
        const newKey = bringsKey ? await feeds.newKeyName(key, folder) : undefined;
        checked.write(context, { ...feed, folder, newKey });
      }),
      undo.keepStep({ changeIn: () => undefined, scope }),
      // Written again after a crash, it would miss what the next step has tidied up.
      recordedAct('write', 'write to the disk', async (context) => {
        const { note } = context;
        const { folder, newKey, ...feed } = checked.read(context);
        if (folder !== undefined) await feeds.adopt(feed, folder);
        if (newKey !== undefined) await feeds.addKey(newKey, job.params.key ?? '');
        const { upgrades } = job.params;
        const isSwitched = job.kind !== 'set_feed' || job.params.enabled !== undefined;
        if (isSwitched) await feeds.write(changeOf(job, feed));
        // A feed that comes or goes has no such note, whatever another of its name had.
        if (job.kind !== 'set_feed') await noUpgrades.set(feed.name, false);
        else if (upgrades !== undefined) await noUpgrades.set(feed.name, upgrades === '0');
        if (isSwitched && folder === undefined) {
          // Harmless: no package manager reads the list of a feed that it does not have.
          const stays = (error: unknown) => note(`its list stays: ${reasonOf(error)}`);
          await feeds.forget(feed).catch(stays);
        }
      }),
      lateAct('drop-fetched', 'tidy up', dropFetched),
      undo.closeStep({ scope }),
    ],
    repair: [
      plainAct('forget-list', 'forget the list', async (context) => {
        const unused = await unusedOf(feeds, context);
        if (unused?.folder !== undefined) await feeds.forget(unused);
      }),
      plainAct('forget-key', 'forget the key', async (context) => {
        const unused = await unusedOf(feeds, context);
        if (unused?.newKey !== undefined) await feeds.removeKey(unused.newKey);
      }),
      plainAct('drop-fetched', 'tidy up', dropFetched),
      undo.closeStep({ scope }),
    ],
  };
}

/** What the job brought, unless the feed is on all the same. */
async function unusedOf(feeds: FeedSettings, context: StepContext) {
  const found = checked.find(context);
  if (found === undefined) return undefined;
  const setup = await feeds.read();
  const isOn = setup.feeds.some(({ url, isEnabled }) => isEnabled && url === found.url);
  return isOn ? undefined : found;
}

function changeOf({ kind, params }: Job, { name, url }: Feed): FeedChange {
  if (kind === 'add_feed') return { verb: 'add', feed: { name, url } };
  if (kind === 'remove_feed') return { verb: 'remove', name };
  return { verb: 'set', name, isEnabled: params.enabled === '1' };
}

/** The feed that the job is about, and what was fetched: from the first mirror that has it. */
async function choose(
  tools: FeedTools,
  isComing: boolean,
  context: StepContext,
): Promise<Feed & { folder: string | undefined }> {
  const { job, note } = context;
  const feed = await chooseFeed(tools.feeds, job);
  if (!isComing) return { ...feed, folder: undefined };
  for (const address of job.params.mirrors?.split(' ') ?? []) {
    const mirror = { name: feed.name, url: tools.feeds.addressOf(address) };
    try {
      return { ...mirror, folder: await fetchAndCheck(tools, mirror, context) };
    } catch (error) {
      if (context.signal.aborted) throw error;
      await note(reasonOf(error));
    }
  }
  return { ...feed, folder: await fetchAndCheck(tools, feed, context) };
}

/** The feed that the job is about. @throws DepotError conflict, not_found */
async function chooseFeed(settings: FeedSettings, job: Job): Promise<Feed> {
  const { feeds } = await settings.read();
  if (job.kind === 'add_feed') {
    const feed = { name: job.subject, url: settings.addressOf(job.params.url ?? '') };
    assertNew(feeds, feed);
    return feed;
  }
  return findFeed(feeds, job.subject, job.kind === 'remove_feed');
}

/** @throws DepotError conflict that names the feed that is there */
export function assertNew(feeds: readonly ConfiguredFeed[], { name, url }: Feed): void {
  const other = feeds.find((feed) => feed.name === name || feed.url.replace(/\/+$/, '') === url);
  if (other === undefined) return;
  const what = other.name === name ? `a feed of the name ${name}` : `the address ${url}`;
  const how = other.isEnabled ? '' : ', switched off';
  throw new DepotError(
    'conflict',
    `cannot add the feed ${name}: ${what} is there already (${other.name}, ${other.url}${how})`,
  );
}

/** @throws DepotError not_found, conflict for a feed that cannot be removed */
export function findFeed(feeds: readonly ConfiguredFeed[], name: string, isToBeRemoved: boolean) {
  const feed = feeds.find((candidate) => candidate.name === name);
  if (feed === undefined) throw new DepotError('not_found', `cannot find a feed named ${name}`);
  if (isToBeRemoved && feed.kind === 'system') {
    throw new DepotError(
      'conflict',
      `cannot remove the feed ${name}: it came with the firmware; it can be switched off`,
    );
  }
  return { name: feed.name, url: feed.url };
}

/** @returns the folder that has what was fetched */
async function fetchAndCheck(tools: FeedTools, feed: Feed, { job, note, signal }: StepContext) {
  for (const { url } of await tools.feeds.filesOf(feed)) await note(`fetching ${url}`);
  const folder = await fetchChecked(tools, feed, { key: job.params.key, signal });
  await note('the list is whole, and what signs it is trusted');
  return folder;
}
