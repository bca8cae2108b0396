import { isOn } from '../../../http/parameter-schemas.ts';
import type { Job } from '../../../jobs/job.ts';
import type { Plan, StepContext } from '../../../jobs/plan.ts';
import {
  ONLY,
  remember,
  transaction,
  type ChangeWork,
} from '../../../package-management/transaction/transaction.ts';
import { failureError, notInstalled } from '../../../package-management/failure.ts';
import { beforeChangeStep, type PackageTools } from '../../../package-management/package-tools.ts';
import {
  chooseUpgrade,
  chooseUpgradeOfAll,
  packagesToUpgrade,
  type LeftPackage,
  type UpgradeChoice,
  type UpgradeOfAll,
} from '../../../package-management/choice.ts';
import {
  OLD_LISTS,
  PARTIAL_LISTS,
  readListsState,
} from '../../../package-management/failed-feeds.ts';
import { judgeUpgrade } from '../../../package-management/transaction/judgement.ts';
import { restoreLists } from './update.ts';

/**
 * upgrade: the app's meta package, the packages in its `depends` and what came with them, as far as
 * they are installed; with `all` everything but the firmware's. Runs nothing if nothing is newer.
 */
export function upgradePlan(tools: PackageTools, { subject, params }: Job): Plan {
  const isOfAll = isOn(params.all);
  const purpose = isOfAll ? 'upgrade all' : `upgrade ${subject}`;
  const find = async (): Promise<UpgradeChoice & Partial<UpgradeOfAll>> =>
    isOfAll ? chooseUpgradeOfAll(tools) : chooseUpgrade(tools, await installedOnes(tools, subject));
  const choose = async (context: StepContext): Promise<void> => {
    const { names, expected, isCurrent, left, leftOut = [] } = await find();
    if (isOfAll) await noteUnchosen(tools, context, { names, leftOut });
    await noteLeft(context, left);
    if (isCurrent) {
      const what = names.length === 0 ? 'what is installed' : names.join(', ');
      const why = `nothing to do: no feed offers a newer version of ${what}`;
      await context.note(!isOfAll && names.length === 0 ? 'nothing to do' : why);
      remember(context, tools.manager, { verb: 'upgrade', names: [] });
      return;
    }
    await tools.manager.around.needSpace(purpose);
    remember(context, tools.manager, { verb: 'upgrade', names, expected });
  };
  // What a plan has shown is done by the lists that it was made of.
  const refetchNote = async (): Promise<string | undefined> => {
    const { state, missing } = await readListsState(tools.manager.feeds);
    const isPartial = missing.length > 0;
    if ((state !== 'old' && !isPartial) || !(await find()).isCurrent) return undefined;
    return isPartial ? PARTIAL_LISTS : OLD_LISTS;
  };
  const judge = judgeUpgrade(tools.manager);
  const work: ChangeWork = {
    ...{ verb: 'upgrade', purpose, choosesFromFeeds: true, refetchNote, choose, judge },
    putsBack: isOfAll ? 'half' : true,
    ...(isOfAll ? { behindChoice: [beforeChangeStep(tools, 'upgrade')] } : {}),
  };
  const { steps, repair } = transaction(tools, ONLY, work);
  return { steps, repair: [restoreLists(tools.manager.lists), ...repair] };
}

async function installedOnes(tools: PackageTools, subject: string): Promise<string[]> {
  const names = await packagesToUpgrade(tools, subject);
  if (names.length === 0) throw failureError(`upgrade ${subject}`, notInstalled(subject));
  return names;
}

const LEFT = {
  firmware: 'since it comes with the next firmware',
  held: 'since it is held',
  feed: 'since its feed is set to give no upgrades',
} as const;

async function noteLeft({ note }: Pick<StepContext, 'note'>, left: readonly LeftPackage[]) {
  for (const reason of ['firmware', 'held', 'feed'] as const) {
    const names = left
      .filter((each) => each.reason === reason)
      .map(({ name, feed }) => (feed === undefined ? name : `${name} (${feed})`));
    if (names.length > 0) await note(`left as it is, ${LEFT[reason]}: ${names.join(', ')}`);
  }
}

async function noteUnchosen(
  tools: PackageTools,
  { note }: Pick<StepContext, 'note'>,
  { names, leftOut }: Pick<UpgradeOfAll, 'names' | 'leftOut'>,
): Promise<void> {
  for (const { message } of leftOut) await note(`left as it is: ${message}`);
  const database = await tools.manager.installed();
  for (const { name, state } of database.values()) {
    // A package's script may fail every time, which is no reason not to upgrade the others.
    if (state !== 'unpacked' || names.includes(name)) continue;
    await note(
      `left as it is: ${name} is not fully installed; upgrade it by its name to finish it`,
    );
  }
}
