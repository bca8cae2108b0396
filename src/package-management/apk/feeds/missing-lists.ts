import { readdir } from 'node:fs/promises';
import type { CommandStep, StepContext } from '../../../jobs/plan.ts';
import { CHOOSING_KINDS } from '../../manager.ts';
import { readFeeds } from './feeds.ts';
import type { Installation } from '../installation.ts';
import type { Simulation } from '../planning/simulation.ts';

/**
 * Fetches the indexes if none is there: they are in memory, and gone after each boot. No good copy
 * can be lost by that, and a feed that is dead only lacks its own. A removal needs none, and a
 * package file only if it needs something of a feed (`wantsLists`).
 */
export function listsStep(installation: Installation): CommandStep {
  return {
    id: 'fetch-lists',
    label: 'fetch lists',
    mustSucceed: false,
    command: async ({ job, memory, note }) => {
      if (memory.lists !== 'wanted' && !CHOOSING_KINDS.has(job.kind)) return undefined;
      if (await hasLists(installation)) return undefined;
      await note('the lists of the feeds are not there, as after a boot: they are fetched first');
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

/** Once in a job that did not look for them at its beginning: whether its plan failed for them. */
export function wantsLists(
  { job, memory }: Pick<StepContext, 'job' | 'memory'>,
  { isSolved, lacksIndex }: Simulation,
): boolean {
  if (isSolved || !lacksIndex || CHOOSING_KINDS.has(job.kind) || memory.lists !== undefined) {
    return false;
  }
  memory.lists = 'wanted';
  return true;
}
