import { DepotError } from '../../../errors.ts';
import type { Job } from '../../../jobs/job.ts';
import type { Plan, StepContext } from '../../../jobs/plan.ts';
import { removalSet } from '../dependencies.ts';
import { metaPackageOf } from '../names.ts';
import { isPresent, type PackageDatabase } from '../package-database.ts';
import type { PackageTools } from '../package-tools.ts';
import { repairSteps } from '../rollback.ts';
import {
  changeSteps,
  completeness,
  formerIds,
  remember,
  type ChangeWork,
  type Chosen,
} from '../transaction.ts';

/** remove: the app and what came with it, but nothing that another package needs. */
export function removePlan(tools: PackageTools, { subject }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    const database = await tools.manager.installed();
    const target = [metaPackageOf(subject), subject].find((name) => isOnRecord(database, name));
    if (target === undefined) {
      throw new DepotError('not_found', `cannot remove ${subject}: it is not installed`);
    }
    remember(context, tools.manager, {
      verb: 'remove',
      names: removalSet(database, [target]),
    });
  };
  const judge = (after: PackageDatabase, { names }: Chosen): string | undefined => {
    const left = names.filter((name) => isOnRecord(after, name));
    return left.length === 0
      ? undefined
      : `cannot remove ${subject}: ${left.join(', ')} is still there; the log says why`;
  };
  const work: ChangeWork = { verb: 'remove', choose, judge };
  return {
    steps: changeSteps(tools, work),
    repair: repairSteps(tools, completeness(tools, work)),
    former: formerIds('remove'),
  };
}

/** It is there, or asked for: what no feed has keeps other packages from being installed. */
function isOnRecord(database: PackageDatabase, name: string): boolean {
  return isPresent(database.get(name)) || database.get(name)?.state === 'requested';
}
