import type { Job } from '../../../jobs/job.ts';
import type { Plan, StepContext } from '../../../jobs/plan.ts';
import type { PackageDatabase } from '../package-database.ts';
import {
  notInstalled,
  type Shortfall,
  changeSteps,
  completeness,
  formerIds,
  remember,
  type ChangeWork,
  type Chosen,
} from '../transaction.ts';
import type { PackageTools } from '../package-tools.ts';
import { repairSteps } from '../rollback.ts';
import { isOnRecord, packagesToRemove, packageToRemove } from './choice.ts';

/** remove: the app and what came with it, but nothing that another package needs. */
export function removePlan(tools: PackageTools, { subject }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    const database = await tools.manager.installed();
    const target = packageToRemove(database, subject);
    if (target === undefined) throw notInstalled(`remove ${subject}`, subject);
    remember(context, tools.manager, {
      verb: 'remove',
      names: packagesToRemove(database, [target]),
    });
  };
  const judge = (after: PackageDatabase, { names }: Chosen): Shortfall | undefined => {
    const left = names.filter((name) => isOnRecord(after, name));
    return left.length === 0
      ? undefined
      : { reason: `${left.join(', ')} is still there`, names: left };
  };
  const work: ChangeWork = { verb: 'remove', purpose: `remove ${subject}`, choose, judge };
  return {
    steps: changeSteps(tools, work),
    repair: repairSteps(tools, completeness(tools, work)),
    former: formerIds('remove'),
  };
}
