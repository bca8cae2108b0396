import { join } from 'node:path';
import { readdir } from 'node:fs/promises';
import * as v from 'valibot';
import {
  plainAct,
  plainCommand,
  type Act,
  type CommandStep,
  type StepContext,
} from '../../../jobs/plan.ts';
import type { FeedLists, RefetchNote, WatchedLists } from '../../manager.ts';
import type { ProblemCode } from '../../problem.ts';
import { describeFailed, LACKING_LISTS, needsNoList, noListsFailure } from '../../failed-feeds.ts';
import { failureError } from '../../failure.ts';
import { transactionSlots } from '../../transaction-slots.ts';
import type { Locations } from '../database/apk-locations.ts';
import type { Installation } from '../installation.ts';
import type { Simulation } from '../planning/simulation.ts';
import { isOnDevice, readFeeds } from './feed-lines.ts';
import { readKeyFiles } from './index-key.ts';

/** Most of what `apk update` prints: a line or two for each feed. */
export const MOST_OUTPUT_BYTES = 256 * 1024;

/**
 * apk replaces the copy of a feed's index only by a good one, so nothing has to be kept; which feed
 * sent none, and why, stands in what it prints.
 */
export function createLists({ feeds, configuration }: Locations): FeedLists {
  return {
    backUp: () => Promise.resolve(),
    checkFetched: async (context) => {
      const configured = await readFeeds(feeds);
      const output = (await context?.printed(MOST_OUTPUT_BYTES)) ?? '';
      const faults = parseUpdate(output);
      const hint = faults.some(({ code }) => code === 'signature')
        ? await unusableKeys(join(configuration, 'keys'))
        : '';
      const failed = faults.map(({ url, reason, code }) => ({
        feed: configured.feeds.find((feed) => feed.url === url) ?? { name: 'feed', url },
        reason: code === 'signature' ? `${reason}${hint}` : reason,
        code,
      }));
      return [...configured.garbage, ...failed];
    },
    forget: () => Promise.resolve(),
  };
}

/** What wget's exit codes say (wget(1)); uclient-fetch uses the same. */
const WGET: Record<string, string> = {
  '3': 'it could not be written',
  '4': 'the server cannot be reached, or breaks off',
  '5': 'its certificate is not trusted',
  '8': 'the server answers with an error',
};

/** `WARNING: updating and opening URL: REASON`, behind what wget ended with. */
export function parseUpdate(output: string): { url: string; reason: string; code: ProblemCode }[] {
  const found: ReturnType<typeof parseUpdate> = [];
  let code: string | undefined;
  for (const line of output.split(/\r?\n/)) {
    code = /ERROR: wget: exited with error (\d+)/.exec(line)?.[1] ?? code;
    const [, url, behind, text = ''] =
      /WARNING: (?:updating and opening|updating|opening) (\S+)(\r\S*)?: (.+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    const known = behind === undefined ? WGET[code ?? ''] : WINDOWS;
    const reason = known === undefined ? text : `${known} (${text})`;
    found.push({ url, reason, code: code === undefined ? codeOf(text) : 'download_failed' });
    code = undefined;
  }
  return found;
}

/** What apk says if its wget ended well, or was not there. */
function codeOf(text: string): ProblemCode {
  if (/UNTRUSTED signature|BAD signature/.test(text)) return 'signature';
  return /No such file|unexpected end of file/.test(text) ? 'download_failed' : 'damaged_package';
}

const WINDOWS =
  'its line in /etc/apk/repositories.d ends with a carriage return, as Windows writes it';

/** A key that is damaged is passed over by apk without a word. */
async function unusableKeys(folder: string): Promise<string> {
  const unusable = (await readKeyFiles(folder)).filter(({ key }) => key === undefined);
  const said = unusable.map(({ file }) => `; ${file} holds no public key`);
  return said.slice(0, 3).join('');
}

export const LISTS_STEP = 'fetch-lists';

const looking = transactionSlots('the lists', { areWanted: v.optional(v.boolean(), false) });

/**
 * Fetches the indexes if none is there: they are in memory, and gone after each boot; or if they
 * are too old for the job. No good copy can be lost by that, and a feed that is dead only lacks its
 * own: it is asked again if a plan fails for it (`wantsLists`). A removal needs none.
 */
export function listsStep(
  installation: Installation,
  choosesFromFeeds: boolean,
  refetchNote: RefetchNote = () => Promise.resolve(undefined),
): CommandStep {
  return plainCommand(LISTS_STEP, 'fetch lists', async (context) => {
    const { areWanted } = looking.read(context);
    const isLacking = areWanted || (choosesFromFeeds && !(await hasLists(installation)));
    const text = isLacking ? LACKING_LISTS : await refetchNote();
    if (text === undefined) return undefined;
    await context.note(text);
    await installation.prepareFolders();
    return installation.commands.update();
  });
}

/** Without any list what is installed would pass for the newest: the job fails, and says why. */
export function listsCheck(
  installation: Installation,
  lists: WatchedLists,
  choosesFromFeeds: boolean,
): Act {
  return plainAct('check-lists', 'check lists', async (context) => {
    const { job } = context;
    if (!choosesFromFeeds) return undefined;
    // What was not fetched, a log that has gone does not say.
    const ownLists = createLists(installation.locations);
    lists.noteFailed(await ownLists.checkFetched(context).catch(() => []));
    if (await hasLists(installation)) return undefined;
    if (await needsNoList(job, installation.reader.read)) return undefined;
    const failed = await lists.checkFetched(context);
    throw failureError(`${job.kind} ${job.subject}`.trim(), noListsFailure(failed));
  });
}

async function hasLists({ cache, locations }: Installation): Promise<boolean> {
  const files = await readdir(await cache()).catch(() => []);
  if (files.some((name) => name.startsWith('APKINDEX.'))) return true;
  return (await readFeeds(locations.feeds)).feeds.every(({ url }) => isOnDevice(url));
}

/**
 * What is not offered may be offered by a feed whose list this job could not fetch: then that is
 * why, and another update would end the same.
 * @returns whether the plan failed and an index is missing that is to be fetched: once in a job
 * @throws DepotError command_failed that says what is wrong with the feeds
 */
export async function wantsLists(
  installation: Installation,
  context: StepContext,
  { purpose, found, lists }: { purpose: string; found: Simulation; lists: WatchedLists },
): Promise<boolean> {
  if (found.isSolved || !found.lacksIndex) return false;
  if (parseUpdate(await context.printed(MOST_OUTPUT_BYTES)).length > 0) {
    const failed = await createLists(installation.locations).checkFetched(context);
    const failure = noListsFailure(failed);
    if (!(await hasLists(installation))) throw failureError(purpose, failure);
    const reasons = describeFailed(failed);
    const reason = `no list has it, and that of a feed cannot be fetched: ${reasons}`;
    throw failureError(purpose, { ...failure, reason });
  }
  if (looking.read(context).areWanted || !(await lists.isWorthFetching())) return false;
  looking.write(context, { areWanted: true });
  return true;
}
