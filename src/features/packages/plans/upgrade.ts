import { DepotError } from '../../../errors.ts';
import type { Job } from '../../../jobs/job.ts';
import type { Plan, StepContext } from '../../../jobs/plan.ts';
import { isInstalled, halfInstalled } from '../half-installed.ts';
import { isPackageName, metaPackageOf } from '../names.ts';
import { isPresent } from '../package-database.ts';
import type { PackageTools } from '../package-tools.ts';
import { repairSteps } from '../rollback.ts';
import { changeSteps, completeness, formerIds, remember, type ChangeWork } from '../transaction.ts';

/**
 * upgrade: the app's meta package and the packages in its `depends`, as far as they are installed.
 */
export function upgradePlan(tools: PackageTools, { subject }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    await tools.manager.around.needSpace(`upgrade ${subject}`);
    const database = await tools.manager.installed();
    const names = (await upgradeNames(tools, subject)).filter((name) =>
      isPresent(database.get(name)),
    );
    if (names.length === 0) {
      throw new DepotError('not_found', `cannot upgrade ${subject}: it is not installed`);
    }
    const offers = await tools.manager.offers(names);
    const expected = Object.fromEntries(
      [...offers].flatMap(([name, [best]]) => (best === undefined ? [] : [[name, best.version]])),
    );
    remember(context, tools.manager, { verb: 'upgrade', names, expected });
  };
  const judge: ChangeWork['judge'] = (after, { names, expected = {} }, { before }) => {
    const unfinished =
      names.find((name) => !isInstalled(after, name)) ?? halfInstalled(before, after)[0]?.name;
    if (unfinished !== undefined) {
      return `cannot upgrade ${subject}: ${unfinished} is not fully installed; the log says why`;
    }
    const behind = Object.entries(expected).find(
      ([name, version]) =>
        tools.manager.compareVersions(after.get(name)?.version ?? '', version) < 0,
    );
    return behind === undefined
      ? undefined
      : `cannot upgrade ${subject}: ${behind[0]} stays at ` +
          `${after.get(behind[0])?.version ?? 'none'}, ${behind[1]} is offered`;
  };
  const work: ChangeWork = { verb: 'upgrade', choose, judge };
  return {
    steps: changeSteps(tools, work),
    repair: repairSteps(tools, completeness(tools, work)),
    former: formerIds('upgrade'),
  };
}

async function upgradeNames({ catalog }: PackageTools, subject: string): Promise<string[]> {
  const meta = isPackageName(subject) ? await catalog.meta(subject) : undefined;
  const depends = (meta?.depends ?? []).filter(isPackageName);
  return [...new Set([...depends, metaPackageOf(subject), subject])];
}
