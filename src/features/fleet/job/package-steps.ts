import { chmod } from 'node:fs/promises';
import { DepotError } from '../../../errors.ts';
import type { Remembering } from '../../../jobs/memory.ts';
import { plainAct, retryFrom, type Act, type Step } from '../../../jobs/plan.ts';
import { removalSet } from '../../../package-management/dependencies.ts';
import { chosen } from '../../../package-management/transaction-slots.ts';
import {
  below,
  remember,
  transaction,
  type ChangeWork,
} from '../../../package-management/transaction/transaction.ts';
import { isPresent } from '../../../package-management/database.ts';
import { chooseUpgrade } from '../../../package-management/choice.ts';
import {
  judgeInstall,
  judgeRemoval,
  judgeUpgrade,
  notConfigured,
} from '../../../package-management/transaction/judgement.ts';
import type { Work, WorkFile } from '../rollout/work.ts';
import { readFound } from './check-work.ts';
import {
  PROGRAM_STEPS,
  rememberProgram,
  packagesNamed,
  type FleetJobTools,
  type Task,
} from './fleet-job-tools.ts';

/** Each change is a transaction, if there is room: files, then names from feeds, then programs. */
export function packageSteps(tools: FleetJobTools, { work, key }: Task): Step[] {
  const phase = (name: string, change: ChangeWork): Step[] =>
    transaction(tools, name, {
      ...change,
      choose: async (context) => {
        await tools.manager.around.needSpace('do the action');
        await change.choose(context);
      },
      behindChoice: [keepStep(tools, change, key)],
    }).steps;
  const packages = work.files.filter(({ kind }) => kind === 'package');
  const programs = work.files.filter(({ kind }) => kind === 'program');
  return [
    ...packages.flatMap((_, index) => phase(`file-${index}`, fileWork(tools, index))),
    ...(work.install.length === 0 ? [] : phase('install', installWork(tools))),
    ...(work.upgrade.length === 0 ? [] : phase('upgrade', upgradeWork(tools, work))),
    ...(work.remove.length === 0 ? [] : phase('remove', removeWork(tools, work))),
    ...programs.flatMap((file, index) =>
      phase(`${PROGRAM_STEPS}${index}`, programWork(tools, file)),
    ),
  ];
}

/** What a program of the operator's changes, nobody knows ahead of it. */
function keepStep(
  { kept, baseline }: FleetJobTools,
  { verb, isForeign }: ChangeWork,
  key: string,
): Act {
  return plainAct('keep', 'keep the old versions', async (context) => {
    const before = (await baseline.read(key))?.packages;
    if (isForeign === true || before === undefined) return;
    const { names, file } = chosen.read(context);
    const change = { verb, names, ...(file === undefined ? {} : { file }) };
    await kept.keep({ key, change, before }, context);
  });
}

function fileWork(tools: FleetJobTools, index: number): ChangeWork {
  const { manager } = tools;
  const fileIn = (job: Remembering) => {
    const found = readFound(job).packages[index];
    if (found === undefined) throw new DepotError('internal', `cannot find the file ${index}`);
    return found;
  };
  return {
    verb: 'install',
    purpose: 'install what the action brings',
    choose: (context) => {
      const { path, name } = fileIn(context);
      chosen.write(context, { names: [], file: { path, name } });
      context.show(manager.commands.shown({ verb: 'install', names: [name] }));
    },
    command: (context) => {
      const { path, isOlder } = fileIn(context);
      return manager.commands.installFile(path, isOlder);
    },
    judge: (after, _, { job, before }) => {
      const { name, version } = fileIn(job);
      const entry = after.get(name);
      return entry?.state === 'installed' && entry.version === version
        ? notConfigured(before, after)
        : { reason: `${name} ${version} is not installed`, names: [name] };
    },
  };
}

function installWork({ manager }: FleetJobTools): ChangeWork {
  return {
    verb: 'install',
    purpose: 'install what the action names',
    choose: (context) => {
      remember(context, manager, { verb: 'install', names: readFound(context).install });
    },
    judge: judgeInstall,
  };
}

function upgradeWork(tools: FleetJobTools, { upgrade }: Work): ChangeWork {
  const { manager } = tools;
  return {
    verb: 'upgrade',
    purpose: `upgrade ${upgrade.join(', ')}`,
    choose: async (context) => {
      const database = await manager.installed();
      const asked = upgrade
        .flatMap((name) => packagesNamed(name).reverse())
        .filter((name) => isPresent(database.get(name)));
      const { names, expected } = await chooseUpgrade(tools, asked);
      remember(context, manager, { verb: 'upgrade', names, expected });
    },
    judge: judgeUpgrade(manager),
  };
}

function removeWork(tools: FleetJobTools, { remove }: Work): ChangeWork {
  return {
    verb: 'remove',
    purpose: `remove ${remove.join(', ')}`,
    choose: async (context) => {
      const database = await tools.manager.installed();
      const targets = remove.flatMap(packagesNamed).filter((name) => isPresent(database.get(name)));
      const names = removalSet(database, targets, await tools.manager.imagePackages());
      remember(context, tools.manager, { verb: 'remove', names });
    },
    judge: judgeRemoval,
  };
}

function programWork(tools: FleetJobTools, file: WorkFile): ChangeWork {
  return {
    verb: 'install',
    purpose: `run ${file.label}`,
    isForeign: true,
    choose: (context) => {
      chosen.write(context, { names: [] });
      context.show(`run ${file.label}`);
      rememberProgram(context, file.label);
    },
    command: async () => {
      const path = tools.downloads.fileOf(file);
      await chmod(path, 0o700);
      return { argv: [path], environment: tools.scriptEnvironment };
    },
    judge: (after, _, { job, before }) =>
      job.lastExitCode === 0
        ? notConfigured(before, after)
        : { reason: `it ended with exit code ${job.lastExitCode ?? 'none'}`, names: [] },
  };
}

/**
 * Fetches the feeds' lists ahead of names that come from feeds, and if there are none at all: on
 * most devices they are in memory. A feed that fails keeps its old list, and is only named: whether
 * it is needed, the check finds out.
 */
export function updateSteps({ manager }: FleetJobTools, work: Work): Step[] {
  const { around, commands, lists } = manager;
  const isNamed = work.install.length + work.upgrade.length > 0;
  const hasPackages = work.files.some(({ kind }) => kind === 'package');
  if (!isNamed && !hasPackages) return [];
  const before = around.before(() => undefined);
  const keep = plainAct('keep-lists', 'keep lists', () => lists.backUp());
  const judge: Step = {
    id: 'judge',
    label: 'check lists',
    act: async (context) => {
      if (context.job.runs > 0) {
        if (await around.wasShutOut(context)) return retryFrom(before[0]);
        for (const { feed, reason } of await lists.checkFetched(context)) {
          await context.note(`the list of ${feed.name} (${feed.url}) stays as it was: ${reason}`);
        }
      }
      await lists.forget();
    },
  };
  return [
    ...below(UPDATE, [...before, keep]),
    {
      id: 'update',
      label: 'update',
      mustSucceed: false,
      command: async () => {
        const isWanted = isNamed || !(await hasOffers(manager));
        return isWanted ? commands.update() : undefined;
      },
    },
    ...below(UPDATE, [judge]),
  ];
}

const UPDATE = 'update';

async function hasOffers({ listing }: FleetJobTools['manager']): Promise<boolean> {
  let isOffered = false;
  await listing.summarize(() => {
    isOffered = true;
    return false;
  });
  return isOffered;
}
