import * as v from 'valibot';
import { DepotError } from '../errors.ts';
import type { ContainerHost } from '../host/container-goods.ts';
import type { SelfUpgradeHost, UploadFolder } from '../host/goods.ts';
import type { Command, PackageDatabase, PackageHost } from '../host/host.ts';
import type { Act, CommandStep, Job, Plan, StepContext } from '../jobs/job.ts';
import type { AutoInstalled } from './auto-installed.ts';
import { autoconfStep } from './autoconf.ts';
import { isPresent, type Catalog } from './catalog.ts';
import { removalSet } from './dependencies.ts';
import { isOn, isPackageName, metaPackageOf } from './names.ts';
import { checkSpace, hasLostLock, mendStatus, prepareStep } from './opkg-steps.ts';
import { repairSteps } from './repair.ts';
import type { RunRecords } from './run-records.ts';

/** What the plans of jobs work with. */
export interface PackageTools {
  packages: PackageHost;
  catalog: Catalog;
  auto: AutoInstalled;
  uploads: UploadFolder;
  records: RunRecords;
  selfUpgrade: SelfUpgradeHost;
  container: ContainerHost;
}

/** install: choose, prepare, opkg, judge, and configure the app where that was asked for. */
export function installPlan(tools: PackageTools, { subject, params }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    await checkSpace(tools.packages, `install ${subject}`);
    remember(context, 'install', { names: [await knownPackage(tools, subject)] });
  };
  const judge = (after: PackageDatabase, { names }: Chosen): string | undefined => {
    const absent = names.find((name) => !isInstalled(after, name));
    return absent === undefined ? undefined : `cannot install ${subject}: ${absent} is not installed; the log says why`;
  };
  const steps = opkgSteps(tools, { verb: 'install', choose, judge });
  return { steps: isOn(params.autoconf) ? [...steps, autoconfStep(tools.packages)] : steps, repair: repairSteps(tools) };
}

/** remove: the app and what came with it, but nothing that another package needs. */
export function removePlan(tools: PackageTools, { subject }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    const database = await tools.packages.read();
    const target = [metaPackageOf(subject), subject].find((name) => isPresent(database.get(name)));
    if (target === undefined) throw new DepotError('not_found', `cannot remove ${subject}: it is not installed`);
    remember(context, 'remove', { names: removalSet(database, [target], await tools.auto.marks()) });
  };
  const judge = (after: PackageDatabase, { names }: Chosen): string | undefined => {
    const left = names.filter((name) => isPresent(after.get(name)));
    return left.length === 0 ? undefined : `cannot remove ${subject}: ${left.join(', ')} is still there; the log says why`;
  };
  return { steps: opkgSteps(tools, { verb: 'remove', choose, judge }), repair: repairSteps(tools) };
}

/** upgrade: the app's meta package and the packages in its `depends`, as far as they are installed. */
export function upgradePlan(tools: PackageTools, { subject }: Job): Plan {
  const choose = async (context: StepContext): Promise<void> => {
    await checkSpace(tools.packages, `upgrade ${subject}`);
    const database = await tools.packages.read();
    const names = (await upgradeNames(tools, subject)).filter((name) => isPresent(database.get(name)));
    if (names.length === 0) throw new DepotError('not_found', `cannot upgrade ${subject}: it is not installed`);
    const offers = await tools.packages.available(names);
    const expected = Object.fromEntries([...offers].flatMap(([name, [best]]) => (best === undefined ? [] : [[name, best.version]])));
    remember(context, 'upgrade', { names, expected });
  };
  const judge = (after: PackageDatabase, { names, expected = {} }: Chosen): string | undefined => {
    const unfinished = names.find((name) => !isInstalled(after, name));
    if (unfinished !== undefined) return `cannot upgrade ${subject}: ${unfinished} is not fully installed; the log says why`;
    const behind = Object.entries(expected).find(([name, version]) => tools.packages.compareVersions(after.get(name)?.version ?? '', version) < 0);
    return behind === undefined ? undefined : `cannot upgrade ${subject}: ${behind[0]} stays at ${after.get(behind[0])?.version ?? 'none'}, ${behind[1]} is offered`;
  };
  return { steps: opkgSteps(tools, { verb: 'upgrade', choose, judge }), repair: repairSteps(tools) };
}

const chosen = v.object({ names: v.array(v.string()), expected: v.optional(v.record(v.string(), v.string())) });

/** What a plan decided to work on, kept in the job so that it is decided once. */
export type Chosen = v.InferOutput<typeof chosen>;

export function remember({ memory, show }: StepContext, verb: string, choice: Chosen): void {
  Object.assign(memory, choice);
  show(`opkg ${verb} ${choice.names.join(' ')}`);
}

export interface OpkgWork {
  verb: 'install' | 'remove' | 'upgrade';
  choose: (context: StepContext) => Promise<void>;
  /** Default: opkg with the verb and the names chosen, if there are any. */
  command?: (context: StepContext) => Promise<Command | undefined>;
  /** @returns why the job failed, if it did, from the package database alone: opkg's exit code lies both ways */
  judge: (after: PackageDatabase, choice: Chosen, work: Work) => string | undefined;
  /** What is put on record once the job is judged well; safe to do again. */
  record?: (after: PackageDatabase, work: Work) => Promise<void>;
}

interface Work {
  job: Readonly<Job>;
  /** The database as it was before the command. */
  before: PackageDatabase;
}

export function opkgSteps(tools: PackageTools, { verb, choose, command, judge, record }: OpkgWork): (Act | CommandStep)[] {
  const { packages, catalog, auto } = tools;
  const commandFor = ({ memory }: StepContext): Command | undefined => {
    const { names } = v.parse(chosen, memory);
    return names.length === 0 ? undefined : packages.commands[verb](names);
  };
  return [
    { name: 'choose', act: (context) => choose(context).then(() => undefined) },
    prepareStep(packages),
    { name: verb, mustSucceed: false, command: command ?? commandFor },
    {
      name: 'judge',
      act: async (context) => {
        if (await hasLostLock(context)) return { again: 'prepare' };
        const damage = await mendStatus(packages, context);
        const after = await packages.read();
        const before = (await packages.statusCopy.read()) ?? after;
        await auto.update(before, after);
        await catalog.refresh();
        const failure = damage ?? judge(after, v.parse(chosen, context.memory), { job: context.job, before });
        if (failure !== undefined) throw new DepotError('command_failed', failure);
        await record?.(after, { job: context.job, before });
        context.memory.isDone = true;
        // Should the file be damaged before the next job, it comes back with what this one did.
        await packages.statusCopy.save();
        return undefined;
      },
    },
  ];
}

/** By its own name, or because another package stands for it. */
function isInstalled(database: PackageDatabase, name: string): boolean {
  return database.get(name)?.state === 'installed' || [...database.values()].some((entry) => entry.state === 'installed' && entry.provides.includes(name));
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
