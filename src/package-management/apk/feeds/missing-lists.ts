import { readdir } from 'node:fs/promises';
import * as v from 'valibot';
import { plainAct, type Act, type CommandStep, type StepContext } from '../../../jobs/plan.ts';
import { describeFailed, noListsFailure } from '../../failed-feeds.ts';
import { failureError } from '../../failure.ts';
import { LACKING_LISTS, needsNoList, OLD_LISTS } from '../../lists-state.ts';
import type { FeedLists } from '../../manager.ts';
import { transactionSlots } from '../../memory.ts';
import { readFeeds } from './feeds.ts';
import { createLists, MOST_OUTPUT_BYTES, parseUpdate } from './lists.ts';
import type { Installation } from '../installation.ts';
import type { Simulation } from '../planning/simulation.ts';

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
  areListsTooOld: () => Promise<boolean> = () => Promise.resolve(false),
): CommandStep {
  return {
    id: LISTS_STEP,
    label: 'fetch lists',
    mustSucceed: false,
    command: async (context) => {
      const { areWanted } = looking.read(context);
      const isLacking = areWanted || (choosesFromFeeds && !(await hasLists(installation)));
      if (!isLacking && !(await areListsTooOld())) return undefined;
      await context.note(isLacking ? LACKING_LISTS : OLD_LISTS);
      await installation.prepareFolders();
      return installation.commands.update();
    },
  };
}

/** Without any list what is installed would pass for the newest: the job fails, and says why. */
export function listsCheck(
  installation: Installation,
  lists: FeedLists,
  choosesFromFeeds: boolean,
): Act {
  return plainAct('check-lists', 'check lists', async (context) => {
    const { job } = context;
    if (!choosesFromFeeds || (await hasLists(installation))) return undefined;
    if (await needsNoList(job, installation.reader.read)) return undefined;
    const failed = await lists.checkFetched(context);
    throw failureError(`${job.kind} ${job.subject}`.trim(), noListsFailure(failed));
  });
}

async function hasLists({ cache, locations }: Installation): Promise<boolean> {
  const files = await readdir(await cache()).catch(() => []);
  if (files.some((name) => name.startsWith('APKINDEX.'))) return true;
  return (await readFeeds(locations.feeds)).feeds.length === 0;
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
  { purpose, found }: { purpose: string; found: Simulation },
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
  if (looking.read(context).areWanted) return false;
  looking.write(context, { areWanted: true });
  return true;
}
