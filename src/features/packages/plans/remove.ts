import type { Job } from '../../../jobs/job.ts';
import type { Plan, StepContext } from '../../../jobs/plan.ts';
import {
  formerIds,
  ONLY,
  remember,
  transaction,
  type ChangeWork,
} from '../../../package-management/transaction/transaction.ts';
import { notInstalled } from '../../../package-management/transaction/explained.ts';
import { chosen } from '../../../package-management/memory.ts';
import type { PackageTools } from '../../../package-management/tools.ts';
import { isClosedCircle, removalSet } from '../../../package-management/dependencies.ts';
import { packageToRemove } from '../../../package-management/choice.ts';
import { removalCommand } from '../../../package-management/transaction/rollback.ts';
import { judgeRemoval } from '../../../package-management/transaction/judgement.ts';

/** remove: the app and what came with it, but nothing that another package needs. */
export function removePlan(tools: PackageTools, { subject }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    const database = await tools.manager.installed();
    const target = packageToRemove(database, subject);
    if (target === undefined) throw notInstalled(`remove ${subject}`, subject);
    const image = await tools.manager.imagePackages();
    const names = removalSet(database, [target], image);
    const isCircle = isClosedCircle(database, names);
    remember(context, tools.manager, { verb: 'remove', names, isCircle });
  };
  const work: ChangeWork = {
    verb: 'remove',
    purpose: `remove ${subject}`,
    choose,
    command: async (context) => removalCommand(tools.manager, chosen.read(context).names),
    judge: judgeRemoval,
  };
  return { ...transaction(tools, ONLY, work), former: formerIds('remove') };
}
