import { isPackageName, metaPackageOf, ownValue } from './names.ts';
import { cameWith, translationsIn } from './dependencies.ts';
import { isPresent, type PackageDatabase } from './database.ts';
import type { Offer } from './manager.ts';
import { keptBack, keptVersions } from './no-upgrades.ts';
import type { PackageTools } from './package-tools.ts';
import type { Preview } from './preview.ts';
import type { Problem, ProblemCode } from './problem.ts';

/**
 * What a request stands for: which packages a job works on. Jobs and `plan` ask here, so that one
 * cannot differ from the other.
 */

/** The meta package of each app if one is installed or offered, else the package of that name. */
export async function packagesToInstall(
  { manager }: PackageTools,
  subjects: readonly string[],
): Promise<string[]> {
  const database = await manager.installed();
  const absent = subjects.map(metaPackageOf).filter((meta) => !isPresent(database.get(meta)));
  // Offers are asked for all at once: it is a reading of all lists.
  const offers = absent.length === 0 ? new Map() : await manager.offers(absent);
  const names = subjects.map((subject) => {
    const meta = metaPackageOf(subject);
    return isPresent(database.get(meta)) || offers.has(meta) ? meta : subject;
  });
  return [...new Set(names)];
}

/** The app, the package of that name, or the one that was asked for by that name alone, if any. */
export function packageToRemove(database: PackageDatabase, subject: string): string | undefined {
  const names = [metaPackageOf(subject), subject];
  return (
    names.find((name) => isOnRecord(database, name)) ??
    [...database.values()].find(
      ({ name, askedAs = [] }) =>
        !askedAs.includes(name) && names.some((asked) => askedAs.includes(asked)),
    )?.name
  );
}

/** A package that is there, or asked for: what no feed has keeps others from being installed. */
export function isOnRecord(database: PackageDatabase, name: string): boolean {
  return isPresent(database.get(name)) || database.get(name)?.state === 'requested';
}

/**
 * The app's meta package, the packages in its `depends`, and what came with them and with nothing
 * else that its owner asked for by name: as far as they are installed.
 */
export async function packagesToUpgrade(tools: PackageTools, subject: string): Promise<string[]> {
  const database = await tools.manager.installed();
  const names = await packagesOf(tools, subject);
  const present = names.filter((name) => isPresent(database.get(name)));
  const came = cameWith(database, present, await tools.manager.imagePackages());
  const translations = [...present, ...came].flatMap((name) => translationsIn(database, name));
  const newer = await withNewer(tools, database, [...came, ...new Set(translations)]);
  return withoutGoing(tools, database, [...present, ...newer]);
}

/** What an app is made of, there or not: what its meta file names, its meta package, itself. */
export async function packagesOf(
  { catalog }: Pick<PackageTools, 'catalog'>,
  subject: string,
): Promise<string[]> {
  const meta = isPackageName(subject) ? await catalog.meta(subject) : undefined;
  const depends = (meta?.depends ?? []).filter(isPackageName);
  return [...new Set([...depends, metaPackageOf(subject), subject])];
}

/**
 * Of what came as a dependency that which stays when the others are upgraded, behind them: by its
 * name opkg would install it again after a new version of what needed it has let it go.
 */
async function withoutGoing(
  { manager }: PackageTools,
  database: PackageDatabase,
  names: readonly string[],
): Promise<string[]> {
  const isAuto = (name: string): boolean => database.get(name)?.isAuto === true;
  const [auto, asked] = [names.filter(isAuto), names.filter((name) => !isAuto(name))];
  if (auto.length === 0 || asked.length === 0) return [...names];
  const { changes } = await manager.preview({ verb: 'upgrade', names: asked });
  const going = new Set(changes.flatMap(({ action, name }) => (action === 'remove' ? [name] : [])));
  return [...asked, ...auto.filter((name) => !going.has(name))];
}

/** Packages of which a feed offers a newer version, or that are damaged. */
async function withNewer(
  { manager }: PackageTools,
  database: PackageDatabase,
  names: readonly string[],
): Promise<string[]> {
  const offers = names.length === 0 ? new Map<string, Offer[]>() : await manager.offers(names);
  return names.filter((name) => {
    const best = offers.get(name)?.[0]?.version;
    const { version = '', isDamaged = false } = database.get(name) ?? {};
    if (isDamaged) return true;
    return best !== undefined && manager.compareVersions(best, version) > 0;
  });
}

export type UpgradeChoice = Awaited<ReturnType<typeof chooseUpgrade>>;

/** Leaves out packages whose upgrade would come, or bring one, from a feed without upgrades. */
export async function chooseUpgrade(tools: PackageTools, asked: readonly string[]) {
  const { manager } = tools;
  const left = await leftForFeeds(tools, asked);
  const names = asked.filter((name) => !left.some((each) => each.name === name));
  const [database, offers] = [await manager.installed(), await manager.offers(names)];
  /** The best version that the feeds offer, by name. */
  const expected: Record<string, string> = Object.fromEntries(
    [...offers].flatMap(([name, [best]]) => (best === undefined ? [] : [[name, best.version]])),
  );
  const isCurrent = areCurrent({ manager }, { database, expected, names });
  return { names, expected, isCurrent, left };
}

async function leftForFeeds(tools: PackageTools, names: readonly string[]): Promise<LeftPackage[]> {
  if ((await tools.noUpgrades.read()).size === 0) return [];
  const database = await tools.manager.installed();
  const kept = await keptBack(tools, database, names);
  const left = [...kept].map(([name, feed]): LeftPackage => ({ name, reason: 'feed', feed }));
  const rest = names.filter((name) => !kept.has(name));
  if (rest.length === 0 || (await broughtFrom(tools, rest)) === undefined) return left;
  // A dependency is upgraded along with what needs it: each is asked for alone.
  for (const name of rest) {
    const feed = await broughtFrom(tools, [name]);
    if (feed !== undefined) left.push({ name, reason: 'feed', feed });
  }
  return left;
}

/** The feed without upgrades that an upgrade of these would fetch a package from. */
async function broughtFrom(tools: PackageTools, names: readonly string[]) {
  const { changes } = await tools.manager.preview({ verb: 'upgrade', names });
  const upgrades = changes.filter(({ action }) => action === 'upgrade');
  const versions = new Map(upgrades.map(({ name, version }) => [name, version]));
  return [...(await keptVersions(tools, versions)).values()][0];
}

/** Whether all of them are whole, and none has a newer version. */
export function areCurrent(
  { manager }: Pick<PackageTools, 'manager'>,
  asked: { database: PackageDatabase; expected: Record<string, string>; names: readonly string[] },
): boolean {
  const { database, expected, names } = asked;
  return names.every((name) => {
    const entry = database.get(name);
    if (entry?.state !== 'installed' || entry.isDamaged === true) return false;
    return manager.compareVersions(ownValue(expected, name) ?? entry.version, entry.version) <= 0;
  });
}

/** What stands against one package, and is no reason not to upgrade the others. */
const LEFT_OUT: readonly ProblemCode[] = [
  'dependency_missing',
  'dependency_conflict',
  'kernel_mismatch',
  'wrong_architecture',
  'unknown',
];

export interface UpgradeOfAll extends UpgradeChoice {
  /** Why packages with a newer version cannot be upgraded. */
  leftOut: Problem[];
}

/** What has a newer version and is not to be upgraded with everything else. */
export interface LeftPackage {
  name: string;
  reason: 'firmware' | 'held' | 'feed';
  /** The feed that gives no upgrades, for the reason `feed`. */
  feed?: string;
}

/**
 * Everything that has a newer version; nothing that the firmware's image brought, nothing that is
 * held, and nothing of a feed that gives no upgrades.
 */
export async function chooseUpgradeOfAll(tools: PackageTools): Promise<UpgradeOfAll> {
  const { names, left } = await upgradablePackages(tools);
  if (names.length === 0) return { names, expected: {}, isCurrent: true, leftOut: [], left };
  const { problems } = await tools.manager.preview({ verb: 'upgrade', names });
  const leftOut = problems.filter(({ code }) => LEFT_OUT.includes(code));
  const withProblem = await blockedBy(tools, names, leftOut);
  const rest = names.filter((name) => !withProblem.includes(name));
  const choice = await chooseUpgrade(tools, rest);
  return { ...choice, leftOut, left: [...left, ...choice.left] };
}

/** A problem may be about a dependency: then each is asked for alone. */
async function blockedBy(
  { manager }: PackageTools,
  names: readonly string[],
  problems: readonly Problem[],
): Promise<string[]> {
  if (problems.length === 0) return [];
  const blocked: string[] = [];
  for (const name of names) {
    const alone: Preview = await manager.preview({ verb: 'upgrade', names: [name] });
    if (alone.problems.some(({ code }) => LEFT_OUT.includes(code))) blocked.push(name);
  }
  return blocked;
}

/**
 * By the manager's own order of versions: what may be upgraded, and what is left although the feeds
 * have a newer version.
 */
async function upgradablePackages(tools: PackageTools) {
  const { manager } = tools;
  const [database, image] = [await manager.installed(), await manager.imagePackages()];
  const present = [...database.values()].filter(isPresent).map(({ name }) => name);
  const left: LeftPackage[] = [];
  const names: string[] = [];
  const newer = await withNewer(tools, database, present);
  const kept = await keptBack(tools, database, newer);
  for (const name of newer) {
    const feed = kept.get(name);
    const entry = database.get(name);
    const isOfFirmware = image.has(name) || entry?.isEssential === true;
    if (isOfFirmware) left.push({ name, reason: 'firmware' });
    else if (entry?.isHeld === true) left.push({ name, reason: 'held' });
    else if (feed !== undefined) left.push({ name, reason: 'feed', feed });
    else names.push(name);
  }
  return { names: await withoutGoing(tools, database, names), left };
}
