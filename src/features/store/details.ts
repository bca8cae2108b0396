import type { Job } from '../../jobs/job.ts';
import type { FeatureContext } from '../feature.ts';
import type { AppMeta, CatalogSnapshot } from '../../package-management/apps/catalog.ts';
import type {
  OfferedPackage,
  PackageDescription,
  PackageRecord,
} from '../../package-management/listing.ts';
import { cameWith, removalSet } from '../../package-management/dependencies.ts';
import { appOf, luciSubjectOf } from '../../package-management/names.ts';
import { isPresent, type InstalledPackage } from '../../package-management/database.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { stoppingOf } from '../../package-management/system-packages.ts';
import type { Details, Item } from './documentation.ts';
import { itemOf, withoutEmpty } from './item.ts';
import { measureFiles } from './measure-files.ts';
import { splitDescription } from './row.ts';
import { findAppId, findPackageId, packageNameOf, type View } from './store-view.ts';

export interface DetailsOptions extends PackageTools {
  queue: Pick<FeatureContext['queue'], 'all'>;
  root: string;
  /** Whether one of these services runs; undefined if nobody knows. */
  isRunning: (services: readonly string[]) => Promise<boolean | undefined>;
}

/** @returns undefined if there is no such app, nor such a package */
export async function readDetails(
  options: DetailsOptions,
  view: View,
  asked: { name: string; kind: Item['kind'] | undefined },
): Promise<Details | undefined> {
  const { name, isApp: isMeta } = appOf(asked.name);
  const id =
    (asked.kind === 'package' && !isMeta ? undefined : findAppId(view, name)) ??
    (asked.kind === 'app' || isMeta ? undefined : findPackageId(view, name));
  if (id === undefined) return undefined;
  const item = itemOf(view, id);
  const subject = await readSubject(options, view, id);
  return {
    ...item,
    ...textsOf(subject, item),
    versions: subject.offers.map(({ version, feed, downloadBytes }) => ({
      ...{ version, feed },
      ...withoutEmpty({ download_bytes: downloadBytes }),
    })),
    ...relationsOf(subject),
    ...(subject.entry && (await stateOf(options, subject, subject.entry))),
  };
}

/** What is known of one app or package, from all who know something. */
interface Subject {
  /** The app's meta package, if it is an app. */
  packageName: string;
  /** The best first. */
  offers: readonly OfferedPackage[];
  /** The package as installed; undefined if it is not. */
  entry: InstalledPackage | undefined;
  /** What the device's own records say of an installed package. */
  own: PackageDescription | undefined;
  meta: AppMeta | undefined;
  /** What came with an application of LuCI: the program that it is the page of. */
  came: readonly string[];
  database: CatalogSnapshot['database'];
}

/** Most versions that feeds offer of a package: more are no choice. */
const MOST_OFFERS = 100;

async function readSubject(
  { manager, catalog }: DetailsOptions,
  view: View,
  id: number,
): Promise<Subject> {
  const { listing, compareVersions } = manager;
  const packageName = packageNameOf(view, id);
  const { name, isApp } = appOf(packageName);
  const { database, apps } = await catalog.snapshot();
  const entry = database.get(packageName);
  const offers: OfferedPackage[] = [];
  for await (const offer of listing.read([packageName])) {
    if (offers.length < MOST_OFFERS) offers.push(offer);
  }
  let own: PackageDescription | undefined;
  for await (const described of listing.readInstalled([packageName])) own = described;
  const isPage = luciSubjectOf(packageName) !== undefined;
  return {
    ...{ packageName, own, database },
    offers: offers.sort((a, b) => compareVersions(b.version, a.version)),
    entry: isPresent(entry) ? entry : undefined,
    meta: isApp ? apps.get(name)?.meta : undefined,
    came: isPage ? cameWith(database, [packageName], await manager.imagePackages()) : [],
  };
}

function textsOf({ meta, own, offers: [best] }: Subject, item: Item) {
  const first = (...texts: (string | undefined)[]): string => texts.find(Boolean) ?? '';
  const offered = first(best?.description, own?.description);
  return {
    description: first(meta?.description, fullText(offered, item)),
    ...withoutEmpty({
      homepage: first(meta?.website, own?.homepage, best?.homepage),
      license: first(own?.license, best?.license),
      maintainer: first(own?.maintainer, best?.maintainer, meta?.author),
    }),
  };
}

/** The list cuts long texts; of an app that has only a title, another package says what it is. */
function fullText(offered: string, { kind, name, description: listed }: Item): string {
  if (kind === 'package') return offered || listed;
  if (luciSubjectOf(name) !== undefined) return listed;
  const { title, description } = splitDescription(offered);
  return description === title ? listed || title : description;
}

/** Relations of the installed version, else of the best that feeds offer. */
function relationsOf(subject: Subject) {
  const { entry, own, offers } = subject;
  const described = (entry && own) ?? offers[0];
  const { depends = [], provides = [] } = entry ?? described ?? {};
  return {
    depends,
    required_by: dependentsOf(subject, provides),
    ...withoutEmpty({ conflicts: described?.conflicts, provides }),
  };
}

function dependentsOf({ packageName, database }: Subject, provides: readonly string[]): string[] {
  const names = new Set([packageName, ...provides]);
  return [...database.values()]
    .filter((other) => isPresent(other) && other.name !== packageName)
    .filter(({ depends }) => depends.some((wanted) => wanted.some((name) => names.has(name))))
    .map(({ name }) => name)
    .sort();
}

const MOST_COMPONENTS = 20;
const MOST_PATHS = 200;

async function stateOf(options: DetailsOptions, subject: Subject, entry: InstalledPackage) {
  const records = await readRecords(options, subject);
  const paths = unique(records.flatMap(({ files }) => files));
  const installedAt = entry.installedAt || (records[0]?.installedAt ?? 0);
  const scripts = paths.flatMap((path) => /^\/etc\/init\.d\/([^/]+)$/.exec(path)?.[1] ?? []);
  const services = unique(scripts).slice(0, MOST_PATHS);
  const runs =
    services.length === 0 ? undefined : await options.isRunning(services.slice(0, MOST_COMPONENTS));
  const { manager } = options;
  const { database, packageName } = subject;
  const going = removalSet(database, [packageName], await manager.imagePackages());
  return {
    ...(records.length > 0 && { files: await measureFiles(options.root, paths) }),
    ...withoutEmpty({
      config: unique(records.flatMap(({ config }) => config)).slice(0, MOST_PATHS),
      services,
      is_running: runs,
      installed_at: installedAt,
      task_id: findJob(options.queue.all(), packageName, installedAt)?.id,
      stops: (await stoppingOf(manager, [packageName], going)).stops,
    }),
  };
}

/** An app's files are those of its meta package and of the packages that its meta file names. */
async function readRecords(
  { manager: { listing } }: DetailsOptions,
  { packageName, meta, came, database }: Subject,
): Promise<PackageRecord[]> {
  const records: PackageRecord[] = [];
  const names = [packageName, ...(meta?.depends ?? []), ...came];
  for (const name of unique(names.slice(0, MOST_COMPONENTS))) {
    const record = isPresent(database.get(name)) ? await listing.record(name) : undefined;
    if (record !== undefined) records.push(record);
  }
  return records;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** Clocks of the record and of the package manager are read one after the other. */
const CLOCK_GRAIN_S = 2;

/**
 * The newest job that was under way when the package came and says that it changed it; else the
 * newest of those that do not say what they changed: such a job may have been cut off. Of one lane
 * only one runs at a time.
 */
function findJob(jobs: readonly Job[], packageName: string, installedAt: number): Job | undefined {
  const possible = jobs.filter(
    ({ lane, startedAt = Infinity, stoppedAt = Infinity }) =>
      lane === PACKAGE_LANE &&
      startedAt - CLOCK_GRAIN_S <= installedAt &&
      installedAt <= stoppedAt + CLOCK_GRAIN_S,
  );
  return (
    possible.findLast(({ packages }) => packages?.includes(packageName)) ??
    possible.findLast(({ packages }) => packages === undefined)
  );
}
