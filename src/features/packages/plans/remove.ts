import * as v from 'valibot';
import { hasEntry } from '../../../device/is-there.ts';
import type { Paths } from '../../../device/paths.ts';
import { isOn } from '../../../http/parameter-schemas.ts';
import type { Job } from '../../../jobs/job.ts';
import { plainAct, type Act, type Plan, type StepContext } from '../../../jobs/plan.ts';
import { reasonOf } from '../../../errors.ts';
import { isPresent } from '../../../package-management/database.ts';
import { failureError, notInstalled } from '../../../package-management/failure.ts';
import {
  ONLY,
  remember,
  transaction,
  type ChangeWork,
} from '../../../package-management/transaction/transaction.ts';
import { chosen, transactionSlots } from '../../../package-management/transaction-slots.ts';
import { beforeChangeStep, type PackageTools } from '../../../package-management/package-tools.ts';
import { isClosedCircle, removalSet } from '../../../package-management/dependencies.ts';
import { packageToRemove } from '../../../package-management/choice.ts';
import { removalCommand } from '../../../package-management/transaction/rollback.ts';
import { judgeRemoval } from '../../../package-management/transaction/judgement.ts';
import { settingsOf } from '../../../package-management/change-preview.ts';
import { systemFailure } from '../../../package-management/system-packages.ts';

/** remove: the app and what came with it, but nothing that another package needs. */
export function removePlan(tools: PackageTools, { onDevice }: Paths, job: Job): Plan {
  const { subject, params } = job;
  const purpose = `remove ${subject}`;
  const choose = async (context: StepContext): Promise<void> => {
    const database = await tools.manager.installed();
    const target = packageToRemove(database, subject);
    if (target === undefined) throw failureError(purpose, notInstalled(subject));
    const image = await tools.manager.imagePackages();
    const names = removalSet(database, [target], image);
    const isAllowed = isOn(params.system);
    const refused = isAllowed ? undefined : await systemFailure(tools.manager, [target], names);
    if (refused !== undefined) throw failureError(purpose, refused);
    const isCircle = isClosedCircle(database, names);
    const isPurge = isOn(params.purge);
    await tools.containers.choose(context, { subject, packages: names, isPurge });
    kept.write(context, { settings: await settingsOf(tools.manager, names) });
    remember(context, tools.manager, { verb: 'remove', names, isCircle });
  };
  const work: ChangeWork = {
    verb: 'remove',
    purpose,
    choose,
    behindChoice: [beforeChangeStep(tools, 'removal')],
    command: async (context) => removalCommand(tools.manager, chosen.read(context).names),
    judge: judgeRemoval,
    // Once the packages have gone for good: a removal that failed leaves the app whole.
    behind: [tools.containers.remove, sayWhatStays(onDevice)],
  };
  const { steps, repair } = transaction(tools, ONLY, work);
  return { steps, repair: [...repair, removeLeftContainers(tools)] };
}

/** A power cut may come between the packages and their containers, which must not run on. */
function removeLeftContainers({ manager, containers: { remove } }: PackageTools): Act {
  return {
    ...remove,
    act: async (context) => {
      const names = chosen.find(context)?.names ?? [];
      if (context.job.verdict?.state === 'failed' || names.length === 0) return undefined;
      const database = await manager.installed();
      if (names.some((name) => isPresent(database.get(name)))) return undefined;
      await remove.act(context)?.catch(async (error: unknown) => context.note(reasonOf(error)));
    },
  };
}

const kept = transactionSlots('what goes', { settings: v.optional(v.array(v.string()), []) });

/** Package managers leave configuration files that were changed, without a word. */
function sayWhatStays(onDevice: Paths['onDevice']): Act {
  return plainAct('say-what-stays', 'say what stays', async (context) => {
    const stays: string[] = [];
    for (const path of kept.read(context).settings) {
      if (await hasEntry(onDevice(path))) stays.push(path);
    }
    const left = stays.join(', ');
    if (left !== '') await context.note(`what was changed in its settings stays: ${left}`);
  });
}
