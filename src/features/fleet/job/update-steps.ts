import { retryFrom, type Step } from '../../../jobs/plan.ts';
import type { Work } from '../rollout/work.ts';
import type { FleetJobTools } from './tools.ts';

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
  const [first, ...rest] = around.before(() => undefined);
  const prepare = { ...first, id: `update-${first.id}` };
  return [
    prepare,
    ...rest.map((step) => ({ ...step, id: `update-${step.id}` })),
    {
      id: 'update-keep-lists',
      label: 'keep lists',
      act: () => lists.backUp().then(() => undefined),
    },
    {
      id: 'update',
      label: 'update',
      mustSucceed: false,
      command: async () => {
        const isWanted = isNamed || !(await hasOffers(manager));
        return isWanted ? commands.update() : undefined;
      },
    },
    {
      id: 'update-judge',
      label: 'judge lists',
      act: async (context) => {
        if (context.job.runs > 0) {
          if (await around.wasShutOut(context)) return retryFrom(prepare);
          for (const { feed, reason } of await lists.checkFetched(context)) {
            await context.note(`the list of ${feed.name} (${feed.url}) stays as it was: ${reason}`);
          }
        }
        await lists.forget();
        return undefined;
      },
    },
  ];
}

async function hasOffers({ listing }: FleetJobTools['manager']): Promise<boolean> {
  let isOffered = false;
  await listing.summarize(() => {
    isOffered = true;
    return false;
  });
  return isOffered;
}
