import { plainAct, plainCommand, retryFrom, type Act, type Plan } from '../../../jobs/plan.ts';
import { explained } from '../../../package-management/transaction/explained.ts';
import { feedFailure } from '../../../package-management/failed-feeds.ts';
import { failureError } from '../../../package-management/failure.ts';
import type { FeedLists } from '../../../package-management/manager.ts';
import { feedScope } from '../../../package-management/undo/kept-folder.ts';
import type { PackageTools } from '../../../package-management/package-tools.ts';

/** update: lists are kept aside, new ones fetched; a feed without a good one keeps its old one. */
export function updatePlan({ manager, undo }: Pick<PackageTools, 'manager' | 'undo'>): Plan {
  const { name, around, commands, lists } = manager;
  const scope = feedScope(manager);
  const before = around.before(() => undefined);
  return {
    steps: [
      ...before,
      undo.keepStep({ changeIn: () => undefined, scope }),
      plainAct('keep-lists', 'keep lists', () => lists.backUp()),
      plainCommand('update', 'update', () => commands.update()),
      plainAct('judge', 'check the result', async (context) => {
        if (await around.wasShutOut(context)) return retryFrom(before[0]);
        const failed = await lists.checkFetched(context);
        if (failed.length > 0) throw failureError('update', feedFailure(failed));
        const { lastExitCode = 0 } = context.job;
        if (lastExitCode !== 0) {
          const reason = `${name} ended with exit code ${lastExitCode}`;
          const shortfall = { reason, names: [] };
          throw await explained(manager, context, { purpose: 'update', shortfall });
        }
      }),
      plainAct('forget-lists', 'forget lists', () => lists.forget()),
      undo.closeStep({ scope }),
    ],
    repair: [restoreLists(lists)],
  };
}

/** The step of a repair that puts old lists back if a job was cut off while it fetched new ones. */
export function restoreLists(lists: FeedLists): Act {
  return plainAct('settle-lists', 'tidy up lists', async () => {
    // Called for what it puts back; its findings were reported when the fetch was judged.
    await lists.checkFetched();
    await lists.forget();
  });
}
