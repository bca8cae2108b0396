import { DepotError } from '../../../errors.ts';
import { retryFrom, type Plan } from '../../../jobs/plan.ts';
import type { FailedFeed } from '../package-manager.ts';
import type { PackageTools } from '../package-tools.ts';

/**
 * update: the lists are kept aside, the package manager fetches new ones, and each feed that sent
 * no good one keeps its old list.
 */
export function updatePlan({ manager }: PackageTools): Plan {
  const { name, around, commands, lists } = manager;
  const before = around.before(() => undefined);
  return {
    steps: [
      ...before,
      {
        id: 'keep-lists',
        label: 'keep lists',
        act: () => lists.backUp().then(() => undefined),
      },
      {
        id: 'update',
        label: 'update',
        mustSucceed: false,
        command: () => commands.update(),
      },
      {
        id: 'judge',
        label: 'judge',
        act: async (context) => {
          if (await around.wasShutOut(context)) return retryFrom(before[0]);
          const failed = await lists.checkFetched(context);
          if (failed.length > 0) {
            throw new DepotError(
              'command_failed',
              `cannot update: ${failed.map(describe).join('; ')}`,
            );
          }
          const { lastExitCode = 0 } = context.job;
          if (lastExitCode !== 0) {
            throw new DepotError(
              'command_failed',
              `cannot update: ${name} ended with exit code ${lastExitCode}; the log says why`,
            );
          }
          return undefined;
        },
      },
      {
        id: 'forget-lists',
        label: 'forget lists',
        act: () => lists.forget().then(() => undefined),
      },
    ],
    repair: [
      {
        id: 'settle-lists',
        label: 'settle lists',
        act: async (context) => {
          await lists.checkFetched(context);
          await lists.forget();
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

function describe({ feed, reason }: FailedFeed): string {
  return `${feed.name} (${feed.url}): ${reason}`;
}
