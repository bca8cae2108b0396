import { DepotError } from '../../errors.ts';
import type { PackageDatabase } from './package-manager.ts';
import type { Job } from '../../jobs/job.ts';
import type { Plan, StepContext } from '../../jobs/plan.ts';
import { autoconfStep } from './autoconf.ts';
import { isPresent } from './catalog.ts';
import { removalSet } from './dependencies.ts';
import { leftHalf } from './half-installed.ts';
import { isOn } from '../../http/parameter-schemas.ts';
import { isPackageName, metaPackageOf } from './names.ts';
import { checkSpace } from './opkg/steps.ts';
import { formerIds, opkgSteps, remember, type Chosen, type OpkgWork } from './transaction.ts';
import type { PackageTools } from './deps.ts';
import { repairSteps } from './rollback.ts';

/** install: choose, prepare, opkg, judge, and configure the app where that was asked for. */
export function installPlan(tools: PackageTools, { subject, params }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    await checkSpace(tools.packages, `install ${subject}`);
    remember(context, 'install', { names: [await knownPackage(tools, subject)] });
  };
  const judge: OpkgWork['judge'] = (after, { names }, { before }) => {
    const absent = names.find((name) => !isInstalled(after, name));
    if (absent !== undefined) {
      return `cannot install ${subject}: ${absent} is not installed; the log says why`;
    }
    // opkg configures a package all the same when one that it needs could not be.
    const [half] = leftHalf(before, after);
    return half === undefined
      ? undefined
      : `cannot install ${subject}: ${half.name} is not fully installed; the log says why`;
  };
  const steps = opkgSteps(tools, { verb: 'install', choose, judge });
  return {
    steps: isOn(params.autoconf) ? [...steps, autoconfStep(tools.packages)] : steps,
    repair: repairSteps(tools),
    former: isOn(params.autoconf) ? formerIds('install', 'configure') : formerIds('install'),
  };
}

/** remove: the app and what came with it, but nothing that another package needs. */
export function removePlan(tools: PackageTools, { subject }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    const database = await tools.packages.read();
    const target = [metaPackageOf(subject), subject].find((name) => isPresent(database.get(name)));
    if (target === undefined) {
      throw new DepotError('not_found', `cannot remove ${subject}: it is not installed`);
    }
    remember(context, 'remove', {
      names: removalSet(database, [target], await tools.auto.marks()),
    });
  };
  const judge = (after: PackageDatabase, { names }: Chosen): string | undefined => {
    const left = names.filter((name) => isPresent(after.get(name)));
    return left.length === 0
      ? undefined
      : `cannot remove ${subject}: ${left.join(', ')} is still there; the log says why`;
  };
  return {
    steps: opkgSteps(tools, { verb: 'remove', choose, judge }),
    repair: repairSteps(tools),
    former: formerIds('remove'),
  };
}

/**
 * upgrade: the app's meta package and the packages in its `depends`, as far as they are installed.
 */
export function upgradePlan(tools: PackageTools, { subject }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    await checkSpace(tools.packages, `upgrade ${subject}`);
    const database = await tools.packages.read();
    const names = (await upgradeNames(tools, subject)).filter((name) =>
      isPresent(database.get(name)),
    );
    if (names.length === 0) {
      throw new DepotError('not_found', `cannot upgrade ${subject}: it is not installed`);
    }
    const offers = await tools.packages.available(names);
    const expected = Object.fromEntries(
      [...offers].flatMap(([name, [best]]) => (best === undefined ? [] : [[name, best.version]])),
    );
    remember(context, 'upgrade', { names, expected });
  };
  const judge: OpkgWork['judge'] = (after, { names, expected = {} }, { before }) => {
    const unfinished =
      names.find((name) => !isInstalled(after, name)) ?? leftHalf(before, after)[0]?.name;
    if (unfinished !== undefined) {
      return `cannot upgrade ${subject}: ${unfinished} is not fully installed; the log says why`;
    }
    const behind = Object.entries(expected).find(
      ([name, version]) =>
        tools.packages.compareVersions(after.get(name)?.version ?? '', version) < 0,
    );
    return behind === undefined
      ? undefined
      : `cannot upgrade ${subject}: ${behind[0]} stays at ${after.get(behind[0])?.version ?? 'none'}, ${behind[1]} is offered`;
  };
  return {
    steps: opkgSteps(tools, { verb: 'upgrade', choose, judge }),
    repair: repairSteps(tools),
    former: formerIds('upgrade'),
  };
}

/** By its own name, or because another package stands for it. */
function isInstalled(database: PackageDatabase, name: string): boolean {
  return (
    database.get(name)?.state === 'installed' ||
    [...database.values()].some(
      (entry) => entry.state === 'installed' && entry.provides.includes(name),
    )
  );
}

/** The app's meta package where one is installed or offered, else the package of that name. */
async function knownPackage({ packages }: PackageTools, subject: string): Promise<string> {
  const meta = metaPackageOf(subject);
  if (isPresent((await packages.read()).get(meta))) return meta;
  return (await packages.available([meta])).has(meta) ? meta : subject;
}

async function upgradeNames({ catalog }: PackageTools, subject: string): Promise<string[]> {
  const meta = isPackageName(subject) ? await catalog.meta(subject) : undefined;
  const depends = (meta?.depends ?? []).filter(isPackageName);
  return [...new Set([...depends, metaPackageOf(subject), subject])];
}
