import { DepotError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { isClosedCircle, removalSet } from './dependencies.ts';
import { isThere, noListsProblem, readListsState } from './failed-feeds.ts';
import { failureProblem, notInstalled } from './failure.ts';
import type { PackageChange, PackageManager } from './manager.ts';
import type { PackageTools, PlannedContainer } from './package-tools.ts';
import {
  areCurrent,
  chooseUpgrade,
  chooseUpgradeOfAll,
  packagesToInstall,
  packagesToUpgrade,
  packageToRemove,
  type LeftPackage,
} from './choice.ts';
import type { PreviewedChange } from './preview.ts';
import { createProblem, type Problem } from './problem.ts';
import { stoppingOf, systemFailure, type Stopping } from './system-packages.ts';
import { translationsFor } from './luci-translations.ts';

export interface ChangeRequest {
  operation: 'install' | 'remove' | 'upgrade';
  /** Apps or packages; none for an upgrade of everything. */
  subjects: readonly string[];
  /** Whether an installation leaves out the translations of its apps. */
  isUntranslated?: boolean;
  /** Whether what the device stands on may be removed. */
  isOfSystem?: boolean;
  /** Who has fetched the lists last: where there are none, it says why. */
  lastFetch?: Job | undefined;
}

export interface ChangePreview {
  changes: PreviewedChange[];
  problems: Problem[];
  /** Whether a job would do it. A problem of what is left out is no obstacle. */
  isPossible: boolean;
  freeBytes: number;
  /** Configuration files of what goes: those that were changed stay. */
  settings?: readonly string[];
  stops?: readonly Stopping[];
  containers?: readonly PlannedContainer[];
  /** Packages that an upgrade leaves as they are, though there is a newer version. */
  left?: readonly LeftPackage[];
}

/** What the jobs for a request would do: they choose their packages by the same functions. */
export async function previewChange(tools: PackageTools, request: ChangeRequest) {
  try {
    return await planSound(tools, request);
  } catch (error) {
    const isTooLarge = error instanceof DepotError && error.explanation?.code === 'plan_too_large';
    if (!isTooLarge) throw error;
    return emptyPlan(tools, [createProblem('plan_too_large', error.message)]);
  }
}

async function planSound(tools: PackageTools, request: ChangeRequest): Promise<ChangePreview> {
  const { operation, subjects } = request;
  const damage = await problemOf('damaged_database', tools.manager.assertUsable);
  if (damage !== undefined) return emptyPlan(tools, [damage]);
  if (await lacksLists(tools, { operation, subjects })) {
    const { feeds } = await tools.manager.feeds.read();
    return emptyPlan(tools, [noListsProblem(request.lastFetch, feeds)]);
  }
  const choice = await choicesFor[operation](tools, request);
  const { names, asked, problems, leftOut = [], left = [] } = choice;
  if (names.length === 0) {
    const empty = await emptyPlan(tools, [...problems, ...leftOut], problems.length === 0);
    return { ...empty, left };
  }
  const shortage = await findShortage(tools, { operation, subjects });
  const isCircle = choice.isCircle === true;
  const preview = await tools.manager.preview({ verb: operation, names, isCircle });
  const { changesWithRoom: changes = preview.changes } = preview;
  tools.expected.keep(names, preview.changes);
  const obstacles = withoutRepeats([...problems, ...withShortage(shortage, preview.problems)]);
  return {
    changes: changes.map((change) => explain(change, operation, asked)),
    problems: withoutRepeats([...obstacles, ...leftOut]),
    isPossible: obstacles.length === 0,
    freeBytes: preview.freeBytes,
    left,
    ...(operation === 'remove' && (await leftBy(tools, asked, names))),
  };
}

/** What the installation of a file would do; of a program, which has no package, nobody knows. */
export async function previewFile(
  tools: PackageTools,
  { name, file }: { name: string; file: PackageChange['file'] },
): Promise<ChangePreview> {
  const damage = await problemOf('damaged_database', tools.manager.assertUsable);
  if (damage !== undefined) return emptyPlan(tools, [damage]);
  const shortage = await findShortage(tools, { operation: 'install', subjects: [name] });
  if (file === undefined) return emptyPlan(tools, shortage, shortage.length === 0);
  const preview = await tools.manager.preview({ verb: 'install', names: [file.name], file });
  const { changesWithRoom: changes = preview.changes, freeBytes } = preview;
  tools.expected.keep([], preview.changes);
  const problems = withoutRepeats(withShortage(shortage, preview.problems));
  return { changes, problems, isPossible: problems.length === 0, freeBytes };
}

async function leftBy(
  { manager, containers }: PackageTools,
  targets: readonly string[],
  names: readonly string[],
) {
  const { stops } = await stoppingOf(manager, targets, names);
  const settings = await settingsOf(manager, names);
  return { settings, stops, containers: await containers.planned(names) };
}

/** Nobody knows what the feeds have: to go by what is installed would be false comfort. */
async function lacksLists({ manager }: PackageTools, { operation, subjects }: ChangeRequest) {
  if (operation === 'remove') return false;
  if ((await readListsState(manager.feeds)).state !== 'missing') return false;
  const database = await manager.installed();
  return operation === 'upgrade' || !subjects.every((subject) => isThere(database, subject));
}

interface PlannedChoice {
  names: readonly string[];
  /** Packages among these that were asked for themselves. */
  asked: readonly string[];
  problems: Problem[];
  leftOut?: Problem[];
  left?: readonly LeftPackage[];
  isCircle?: boolean;
}

type Choose = (tools: PackageTools, request: ChangeRequest) => Promise<PlannedChoice>;

const choicesFor: Readonly<Record<ChangeRequest['operation'], Choose>> = {
  install: async (tools, { subjects, isUntranslated }) => {
    const asked = await packagesToInstall(tools, subjects);
    const translations = isUntranslated === true ? [] : await translationsFor(tools, asked);
    return { names: [...asked, ...translations], asked, problems: [] };
  },
  remove: async (tools, { subjects, isOfSystem }) => {
    const database = await tools.manager.installed();
    const found = subjects.map((subject) => packageToRemove(database, subject));
    const targets = [...new Set(found.filter((name) => name !== undefined))];
    const problems = subjects
      .filter((_, index) => found[index] === undefined)
      .map((subject) => failureProblem(`remove ${subject}`, notInstalled(subject)));
    const image = await tools.manager.imagePackages();
    const names = targets.length === 0 ? [] : removalSet(database, targets, image);
    const refused =
      isOfSystem === true ? undefined : await systemFailure(tools.manager, targets, names);
    if (refused !== undefined) {
      const problem = failureProblem(`remove ${subjects.join(', ')}`, refused);
      return { names: [], asked: [], problems: [...problems, problem] };
    }
    return { names, asked: targets, problems, isCircle: isClosedCircle(database, names) };
  },
  upgrade: async (tools, { subjects }) => {
    if (subjects.length === 0) {
      const { names, isCurrent, leftOut, left } = await chooseUpgradeOfAll(tools);
      return { names: isCurrent ? [] : names, asked: names, problems: [], leftOut, left };
    }
    const groups: string[][] = [];
    for (const subject of subjects) groups.push(await packagesToUpgrade(tools, subject));
    const problems = subjects
      .filter((_, index) => groups[index]?.length === 0)
      .map((subject) => failureProblem(`upgrade ${subject}`, notInstalled(subject)));
    const { names: open, expected, left } = await chooseUpgrade(tools, groups.flat());
    const database = await tools.manager.installed();
    const isCurrent = (group: readonly string[]): boolean =>
      areCurrent(tools, { database, expected, names: group });
    const openGroups = groups.map((group) => group.filter((name) => open.includes(name)));
    const names = [...new Set(openGroups.filter((group) => !isCurrent(group)).flat())];
    return { names, asked: names, problems, left };
  },
};

/** Jobs that remove need none. */
async function findShortage({ manager }: PackageTools, { operation, subjects }: ChangeRequest) {
  if (operation === 'remove') return [];
  const purpose = `${operation} ${subjects.length === 0 ? 'all' : subjects.join(', ')}`;
  const shortage = await problemOf('no_space', () => manager.around.needSpace(purpose));
  return shortage === undefined ? [] : [shortage];
}

/** A shortage that the change itself names says more than one for changes in general. */
function withShortage(shortage: readonly Problem[], problems: readonly Problem[]): Problem[] {
  const isSaid = problems.some(({ code }) => code === 'no_space');
  return isSaid ? [...problems] : [...shortage, ...problems];
}

/** The failure of `work` as a problem, with the error's own remedy if it brings one. */
async function problemOf(code: Problem['code'], work: () => Promise<void>) {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof DepotError)) throw error;
    const problem = createProblem(code, error.message);
    return { ...problem, remedy: error.explanation?.remedy ?? problem.remedy };
  }
}

async function emptyPlan(
  { manager }: PackageTools,
  problems: Problem[],
  isPossible = false,
): Promise<ChangePreview> {
  return { changes: [], problems, isPossible, freeBytes: await manager.freeBytes() };
}

/** What goes along is a dependency that nothing needs any more; what comes along a translation. */
function explain(
  change: PreviewedChange,
  verb: PackageChange['verb'],
  asked: readonly string[],
): PreviewedChange {
  if (change.reason !== 'asked' || asked.includes(change.name)) return change;
  return { ...change, reason: verb === 'remove' ? 'orphan' : 'translation' };
}

function withoutRepeats(problems: readonly Problem[]): Problem[] {
  const seen = new Map(problems.map((problem) => [`${problem.code} ${problem.message}`, problem]));
  return [...seen.values()];
}

/** Configuration files of installed packages; a removal leaves those that were changed. */
export async function settingsOf(
  { listing }: Pick<PackageManager, 'listing'>,
  names: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) found.push(...((await listing.record(name))?.config ?? []));
  return [...new Set(found)].slice(0, MOST_SETTINGS);
}

const MOST_SETTINGS = 200;
