import { DepotError } from '../../errors.ts';
import type { Plan } from '../../jobs/job.ts';
import type { PackageTools } from './deps.ts';
import { hasLostLock, prepareStep } from './opkg/steps.ts';

/**
 * update: the lists are kept aside, opkg fetches new ones, and each feed that sent no good one
 * keeps its old list.
 */
export function updatePlan({ packages }: PackageTools): Plan {
  return {
    steps: [
      prepareStep(packages),
      { name: 'keep lists', act: () => packages.lists.keep().then(() => undefined) },
      { name: 'update', mustSucceed: false, command: () => packages.commands.update() },
      {
        name: 'judge',
        act: async (context) => {
          if (await hasLostLock(context)) return { again: 'prepare' };
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
      { name: 'forget lists', act: () => packages.lists.forget().then(() => undefined) },
    ],
    repair: [
      {
        name: 'settle lists',
        act: async () => {
          await packages.lists.settle();
          await packages.lists.forget();
          return undefined;
        },
      },
    ],
  };
}
