import { readdir } from 'node:fs/promises';
import * as v from 'valibot';
import type { CommandStep, StepContext } from '../../../jobs/plan.ts';
import { transactionSlots } from '../../memory.ts';
import { readFeeds } from './feeds.ts';
import type { Installation } from '../installation.ts';
import type { Simulation } from '../planning/simulation.ts';

export const LISTS_STEP = 'fetch-lists';

const looking = transactionSlots('the lists', { areWanted: v.optional(v.boolean(), false) });

/**
 * Fetches the indexes if none is there: they are in memory, and gone after each boot. No good copy
 * can be lost by that, and a feed that is dead only lacks its own. A removal needs none, and a
 * package file only if it needs something of a feed (`wantsLists`).
 */
export function listsStep(installation: Installation, choosesFromFeeds: boolean): CommandStep {
  return {
    id: LISTS_STEP,
    label: 'fetch lists',
    mustSucceed: false,
    command: async (context) => {
      if (!choosesFromFeeds && !looking.read(context).areWanted) return undefined;
      if (await hasLists(installation)) return undefined;
      await context.note(
        'the lists of the feeds are not there, as after a boot: they are fetched first',
      );
      await installation.prepareFolders();
      return installation.commands.update();
    },
  };
}

async function hasLists({ cache, locations }: Installation): Promise<boolean> {
  const files = await readdir(await cache()).catch(() => []);
  if (files.some((name) => name.startsWith('APKINDEX.'))) return true;
  return (await readFeeds(locations.feeds)).feeds.length === 0;
}

/** Once: whether the plan of a job that has not looked for them failed for them. */
export function wantsLists(context: StepContext, { isSolved, lacksIndex }: Simulation): boolean {
  if (isSolved || !lacksIndex || looking.read(context).areWanted) return false;
  looking.write(context, { areWanted: true });
  return true;
}
