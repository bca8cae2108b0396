import { retryFrom, type Step } from '../../../jobs/plan.ts';
import { below } from '../../../package-management/transaction/transaction.ts';
import type { Work } from '../rollout/work.ts';
import { actStep, type FleetJobTools } from './tools.ts';

/**
 * Fetches the feeds' lists ahead of names that come from feeds, and if there are none at all: on
 * most devices they are in memory. A feed that fails keeps its old list, and is only named: whether
 * it is needed, the check finds out.
 */
export function updateSteps({ manager }: FleetJobTools, work: Work): Step[] {
  const { around, commands, lists } = manager;
  const isNamed = work.install.length + work.upgrade.length > 0;
  const hasPackages = work.files.some(({ kind }) => kind === 'package');
  if (!isNamed && !hasPackages) return [];
  const before = around.before(() => undefined, false);
  const keep = actStep('keep-lists', 'keep lists', () => lists.backUp());
  const judge: Step = {
    id: 'judge',
    label: 'check lists',
    act: async (context) => {
      if (context.job.runs > 0) {
        if (await around.wasShutOut(context)) return retryFrom(before[0]);
        for (const { feed, reason } of await lists.checkFetched(context)) {
          await context.note(`the list of ${feed.name} (${feed.url}) stays as it was: ${reason}`);
        }
      }
      await lists.forget();
    },
  };
  return [
    ...below(NAME, [...before, keep]),
    {
      id: 'update',
      label: 'update',
      mustSucceed: false,
      command: async () => {
        const isWanted = isNamed || !(await hasOffers(manager));
        return isWanted ? commands.update() : undefined;
      },
    },
    ...below(NAME, [judge]),
  ];
}

const NAME = 'update';

async function hasOffers({ listing }: FleetJobTools['manager']): Promise<boolean> {
  let isOffered = false;
  await listing.summarize(() => {
    isOffered = true;
    return false;
  });
  return isOffered;
}
