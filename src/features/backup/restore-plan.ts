import { rename, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { freeBytesOf } from '../../device/disk/space.ts';
import { isPrivateFolder, openTrustedFolder } from '../../device/private-folder.ts';
import { DepotError } from '../../errors.ts';
import type { Job } from '../../jobs/job.ts';
import { plainAct, plainCommand, type Plan, type Step, type StepContext } from '../../jobs/plan.ts';
import { isInstalled } from '../../package-management/database.ts';
import { failureError } from '../../package-management/failure.ts';
import { readListsState } from '../../package-management/failed-feeds.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import type { ReportLine } from '../../package-management/transaction/report-line.ts';
import { chosen } from '../../package-management/transaction-slots.ts';
import { beforeChangeStep, type PackageTools } from '../../package-management/package-tools.ts';
import { keepAsked } from '../../package-management/transaction/keep-asked.ts';
import { remember, transaction } from '../../package-management/transaction/transaction.ts';
import type { FeatureContext } from '../feature.ts';
import { comesBack, reportBack, restored } from './comes-back.ts';
import { filesToWrite, keepHostName, SYSTEM, writeBack } from './write-back.ts';
import { unpackSet } from './read-set.ts';
import type { RestoreDue } from './restore-due.ts';
import { NO_LISTS } from './resumption.ts';
import SERVICES from './services.sh';
import { RESERVE_BYTES, type Sets } from './sets.ts';

export interface RestoreTools extends PackageTools, Pick<FeatureContext, 'paths'> {
  sets: Sets;
  due: RestoreDue;
  scriptEnvironment: Record<string, string>;
}

/**
 * restore: the set is checked and unpacked; then its configuration, one transaction of packages
 * from feeds (one ahead of it from the set's own files, of what no feed has), services, and a
 * report by package. What cannot come is named in it and keeps nothing else from coming.
 */
export function restorePlan(tools: RestoreTools, job: Job): Plan {
  const { manager } = tools;
  const isNew = job.params.as === 'new';
  const fromFiles = transaction(tools, 'files', {
    verb: 'install',
    purpose: 'restore package files',
    choose: async (context) => {
      const { set } = restored.read(context);
      const { files } = await comesBack(manager, set);
      const paths = files.map(({ name, file }) => ({ name, path: pathOf(tools, context, file) }));
      restored.write(context, { files: paths });
      if (files.length > 0) await manager.around.needSpace('restore');
      chosen.write(context, { names: [] });
    },
    command: async (context) => {
      const paths = restored.read(context).files.map(({ path }) => path);
      return paths.length === 0 ? undefined : (await manager.restoration()).installFiles(paths);
    },
    judge: () => undefined,
    isComplete: () => false,
  });
  const fromFeeds = transaction(tools, 'feeds', {
    verb: 'install',
    purpose: 'restore',
    // Feeds' lists were fetched ahead, and are not wanted if the set itself has all.
    choosesFromFeeds: false,
    choose: async (context) => {
      const { set, files } = restored.read(context);
      const { names, report } = await comesBack(manager, set);
      await needLists(manager, report);
      const fromSet = new Set(files.map(({ name }) => name));
      // What has just come from files is back, not there before.
      const lines = report.map((line): ReportLine =>
        line.state === 'there' && fromSet.has(line.package) ? { ...line, state: 'back' } : line,
      );
      restored.write(context, { report: lines });
      if (names.length > 0) await manager.around.needSpace('restore');
      remember(context, manager, { verb: 'install', names });
    },
    judge: () => undefined,
    isComplete: () => false,
  });
  const tidyUp = plainAct('tidy-up', 'tidy up', async (context) => {
    const { folder } = restored.find(context) ?? {};
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    // A power cut is no end: the next start takes it up again.
    const { state, errorCode } = context.job.verdict ?? {};
    if (state !== 'interrupted' && errorCode !== NO_LISTS) await tools.due.forget();
  });
  return {
    steps: [
      plainAct('unpack', 'check the backup', (context) => unpack(tools, job, context)),
      beforeChangeStep(tools, 'upgrade'),
      plainAct('configuration', 'bring the settings back', (context) =>
        writeConfiguration(tools, context, isNew),
      ),
      ...listSteps(tools),
      ...fromFiles.steps,
      ...fromFeeds.steps,
      plainAct('hold', 'hold', (context) => setHolds(tools, context)),
      plainCommand('services', 'services', (context) => {
        const { disabled } = restored.read(context).set;
        return {
          argv: ['sh', '-c', SERVICES, 'services', tools.paths.root, ...disabled],
          environment: tools.scriptEnvironment,
        };
      }),
      plainAct('report', 'check the result', (context) => reportBack(tools, context)),
      tidyUp,
    ],
    repair: [
      ...fromFeeds.repair,
      plainAct('report', 'check the result', (context) => reportBack(tools, context, true)),
      tidyUp,
    ],
  };
}

/** Ends the restore if there are no lists: without any nobody knows what is offered. */
async function needLists(manager: PackageManager, lines: readonly ReportLine[]): Promise<void> {
  if (lines.every(({ state }) => state !== 'not_offered')) return;
  if ((await readListsState(manager.feeds)).state !== 'missing') return;
  const reason = 'there are no package lists, and they cannot be fetched';
  throw failureError('restore the packages', { code: NO_LISTS, reason });
}

function pathOf({ manager }: RestoreTools, context: StepContext, file: string): string {
  const { folder, set } = restored.read(context);
  const index = set.package_files.findIndex((each) => each.file === file);
  return join(folder, `${set.files.length + index}.${manager.files.ending}`);
}

/** Unpacks in memory if there is room, else beside the set; nobody else can write there. */
async function unpack(
  { sets, paths, due, manager }: RestoreTools,
  { id, params }: Job,
  context: StepContext,
): Promise<void> {
  const { backup = '' } = params;
  const { file, manifest } = await sets.find(backup);
  const all = [...manifest.files, ...manifest.package_files];
  const bytes = all.reduce((sum, each) => sum + each.bytes, 0);
  const uploads = await openTrustedFolder(paths.uploadDir);
  const isRoomy = (await freeBytesOf(uploads)) > 2 * bytes;
  const folder = join(isRoomy ? uploads : dirname(file), `.restore-${id}`);
  await due.remember({ backup, ...(params.as === undefined ? {} : { as: params.as }) });
  const set = await unpackSet(file, folder, (await freeBytesOf(dirname(folder))) - RESERVE_BYTES);
  // Package files get endings, by which package managers know them.
  for (const [index] of set.package_files.entries()) {
    const number = set.files.length + index;
    const named = join(folder, `${number}.${manager.files.ending}`);
    await rename(join(folder, String(number)), named);
  }
  restored.write(context, { folder, set });
  if (!(await isPrivateFolder(folder))) {
    throw new DepotError('unavailable', `cannot restore: others may write in ${dirname(folder)}`);
  }
  // The backup that is made of before lets the oldest go, which is not to be this one. Of a disk
  // that is read-only none goes.
  const now = new Date();
  await utimes(file, now, now).catch(() => undefined);
}

async function writeConfiguration(
  { paths, manager }: RestoreTools,
  context: StepContext,
  isNew: boolean,
): Promise<void> {
  const { folder, set } = restored.read(context);
  const files = await filesToWrite(paths, set, { isNew, manager: manager.name });
  let written = 0;
  for (const file of files) {
    const source = join(folder, String(file.index));
    if (isNew && file.path === SYSTEM) await keepHostName(paths, source);
    const fault = await writeBack(paths, file, source);
    if (fault === undefined) written += 1;
    else await context.note(`${file.path} is left as it is: ${fault}`);
  }
  await context.note(`${written} files of the configuration are back`);
  if (set.package_manager === manager.name) return;
  for (const { name, url } of set.feeds) {
    await context.note(
      `the feed ${name} (${url}) is for ${set.package_manager}: add its ${manager.name} address`,
    );
  }
}

/** With the feeds that have come back; without a network what is there has to do. */
function listSteps({ manager: { commands, lists, around } }: RestoreTools): Step[] {
  const before = around.before(() => undefined);
  return [
    ...before.map((each): Step => ({ ...each, id: `lists-${each.id}` })),
    plainAct('keep-lists', 'keep lists', () => lists.backUp()),
    plainCommand('update', 'update', () => commands.update()),
    plainAct('judge-lists', 'check the result', async (context) => {
      for (const { feed, reason } of await lists.checkFetched(context)) {
        await context.note(`no new list of ${feed.name}: ${reason}`);
      }
      await lists.forget();
    }),
  ];
}

/**
 * What came from files is not held by that, what came along is a dependency, and what its owner
 * had asked for is asked for again, though another package of the set needs it.
 */
async function setHolds(tools: RestoreTools, context: StepContext): Promise<void> {
  const { manager } = tools;
  const { set, files } = restored.read(context);
  const database = await manager.installed();
  const wanted = new Map(set.packages.map((each) => [each.name as string, each]));
  for (const { name } of files) {
    if (!isInstalled(database, name)) continue;
    await manager.setHold(name, { isHeld: false, isAuto: !wanted.has(name) });
  }
  await keepAsked(tools, database, [...wanted.keys()]);
  const asked = set.packages.filter((each) => each.is_held === true).map(({ name }) => name);
  for (const name of [...asked, ...set.held]) {
    if (database.get(name)?.state === 'installed') await manager.setHold(name, { isHeld: true });
  }
}
