import { DepotError } from '../../errors.ts';
import { retryFrom, type Plan } from '../../jobs/plan.ts';
import type { PackageTools } from './deps.ts';
import { hasLostLock, prepareStep } from './opkg/steps.ts';

/**
 * update: the lists are kept aside, opkg fetches new ones, and each feed that sent no good one
 * keeps its old list.
 */
export function updatePlan({ packages }: PackageTools): Plan {
  const prepare = prepareStep(packages);
  return {
    steps: [
      prepare,
      {
        id: 'keep-lists',
        label: 'keep lists',
        act: () => packages.lists.keep().then(() => undefined),
      },
      {
        id: 'update',
        label: 'update',
        mustSucceed: false,
        command: () => packages.commands.update(),
      },
      {
        id: 'judge',
        label: 'judge',
        act: async (context) => {
          if (await hasLostLock(context)) return retryFrom(prepare);
          const failed = await packages.lists.settle();
          if (failed.length > 0) {
            throw new DepotError(
              'command_failed',
              `cannot update: ${failed.map(({ feed, reason }) => `${feed.name} (${feed.url}): ${reason}`).join('; ')}`,
            );
          }
          const { lastExitCode = 0 } = context.job;
          if (lastExitCode !== 0) {
            throw new DepotError(
              'command_failed',
              `cannot update: opkg ended with exit code ${lastExitCode}; the log says why`,
            );
          }
          return undefined;
        },
      },
      {
        id: 'forget-lists',
        label: 'forget lists',
        act: () => packages.lists.forget().then(() => undefined),
      },
    ],
    repair: [
      {
        id: 'settle-lists',
        label: 'settle lists',
        act: async () => {
          await packages.lists.settle();
          await packages.lists.forget();
          return undefined;
        },
      },
    ],
    former: {
      steps: ['prepare', 'keep-lists', 'update', 'judge', 'forget-lists'],
      repair: ['settle-lists'],
    },
  };
}
