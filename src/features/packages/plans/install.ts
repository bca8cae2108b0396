import type { Job } from '../../../jobs/job.ts';
import type { Plan, StepContext } from '../../../jobs/plan.ts';
import { isOff, isOn } from '../../../http/parameter-schemas.ts';
import { autoconfStep, type ScriptContext } from '../autoconf.ts';
import type { PackageTools } from '../../../package-management/package-tools.ts';
import { translationsFor } from '../../../package-management/luci-translations.ts';
import { packagesToInstall } from '../../../package-management/choice.ts';
import { previewChange } from '../../../package-management/change-preview.ts';
import { PARTIAL_LISTS, readListsState } from '../../../package-management/failed-feeds.ts';
import type { ProblemCode } from '../../../package-management/problem.ts';
import { keepAsked } from '../../../package-management/transaction/keep-asked.ts';
import { chosen } from '../../../package-management/transaction-slots.ts';
import { judgeInstall } from '../../../package-management/transaction/judgement.ts';
import {
  ONLY,
  remember,
  transaction,
  type ChangeWork,
} from '../../../package-management/transaction/transaction.ts';

/** install: the app's meta package, and the app's configuration if that was asked for. */
export function installPlan(tools: PackageTools, scripts: ScriptContext, job: Job): Plan {
  const { subject, params } = job;
  const choose = async (context: StepContext): Promise<void> => {
    await tools.manager.around.needSpace(`install ${subject}`);
    const names = await packagesToInstall(tools, [subject]);
    const translations = isOff(params.translations) ? [] : await translationsFor(tools, names);
    remember(context, tools.manager, { verb: 'install', names: [...names, ...translations] });
  };
  const work: ChangeWork = {
    verb: 'install',
    purpose: `install ${subject}`,
    choosesFromFeeds: true,
    removesWhatCame: true,
    putsBack: true,
    refetchNote: () => refetchNote(tools, job),
    choose,
    judge: judgeInstall,
    record: (after, { job: own }) => keepAsked(tools, after, chosen.find(own)?.names ?? []),
  };
  if (!isOn(params.autoconf)) return transaction(tools, ONLY, work);
  // The installation is not the whole of the job.
  const isComplete = (): boolean => false;
  return transaction(tools, ONLY, { ...work, isComplete, behind: [autoconfStep(scripts)] });
}

/** What no list offers a feed may have whose own list is not there. */
async function refetchNote(tools: PackageTools, { subject }: Job): Promise<string | undefined> {
  if ((await readListsState(tools.manager.feeds)).missing.length === 0) return undefined;
  const { problems } = await previewChange(tools, { operation: 'install', subjects: [subject] });
  const isLacking = problems.some(({ code }) => LACKING.includes(code));
  return isLacking ? PARTIAL_LISTS : undefined;
}

const LACKING: readonly ProblemCode[] = ['not_found', 'dependency_missing'];
