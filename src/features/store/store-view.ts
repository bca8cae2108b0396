import type { AppMeta, CatalogSnapshot } from '../../package-management/apps/catalog.ts';
import { appOf, luciSubjectOf, metaPackageOf } from '../../package-management/names.ts';
import { isPresent, type InstalledPackage } from '../../package-management/database.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { keptBack, type NoUpgrades } from '../../package-management/no-upgrades.ts';
import { createSystemPackages } from '../../package-management/system-packages.ts';
import {
  createIndexBuilder,
  findPackage,
  findRow,
  readRow,
  versionAt,
  type PackageIndex,
} from './package-index.ts';
import { cameWith } from '../../package-management/dependencies.ts';
import { freedBytes } from './freed-bytes.ts';
import { mergeByName } from './merge-by-name.ts';
import { luciAppsOf, rowIn, type IndexRow, type SourceRow } from './row.ts';
import type { MenuEntry } from './luci/menu.ts';
import { isAppAt, isLuciAppAt } from './row-kinds.ts';

/** What feeds offer and what is installed, as one list. Ids: rows of `offered`, then of `local`. */
export interface View {
  offered: PackageIndex;
  /** What is installed and not offered, and installed apps: their own meta file describes them. */
  local: PackageIndex;
  /** All ids by name. */
  order: Uint32Array;
  installed: ReadonlyMap<number, InstalledState>;
  /** Names that have a picture. */
  icons: ReadonlySet<string>;
  /** Paths below LuCI of its installed applications, by package. */
  menu: ReadonlyMap<string, MenuEntry>;
}

/** Where a package, or an app, is listed. */
type Lists = Pick<View, 'offered' | 'local'>;

export interface InstalledState {
  version: string;
  isAuto: boolean;
  isHeld: boolean;
  isBroken: boolean;
  isUpgradable: boolean;
  /** Whether the firmware's image brought it, or the device stands on it. */
  isSystem: boolean;
  /** Whether the firmware's image brought it: with the next one a newer version comes. */
  isOfFirmware: boolean;
  /** Time of the installation, Unix seconds; 0 if nobody knows. */
  time: number;
  /** What the removal of an app frees; undefined for a package. */
  freedBytes?: number;
  /** What an app says of itself in English beside its description. */
  english?: string | undefined;
}

export interface ViewSources {
  manager: Pick<PackageManager, 'listing' | 'offers' | 'compareVersions' | 'imagePackages'>;
  noUpgrades: NoUpgrades;
  offered: PackageIndex;
  snapshot: CatalogSnapshot;
  icons: ReadonlySet<string>;
  /** @param name of an installed application of LuCI */
  menuEntry: (name: string) => Promise<MenuEntry | undefined>;
}

export async function buildView(sources: ViewSources): Promise<View> {
  const { offered, icons, snapshot } = sources;
  const menu = await readMenu(sources);
  const { local, hidden } = await buildLocal(sources, menu);
  const order = mergeByName(offered, local, hidden);
  const view = { offered, local, order, icons, menu };
  const image = await sources.manager.imagePackages();
  const apps = [...snapshot.database.values()]
    .filter((entry) => isPresent(entry) && isListedAsApp(view, entry.name))
    .map(({ name }) => name);
  const freed = await freedBytes({ ...sources, apps, image });
  const newer = newerIn(view, sources);
  const kept = await keptBack(sources, snapshot.database, newer);
  const upgradable = new Set(newer.filter((name) => !kept.has(name)));
  return { ...view, installed: statesIn(view, snapshot, { apps, freed, image, upgradable }) };
}

async function readMenu({ snapshot: { database }, menuEntry }: ViewSources): Promise<View['menu']> {
  const menu = new Map<string, MenuEntry>();
  for (const entry of database.values()) {
    if (luciSubjectOf(entry.name) === undefined || !isPresent(entry)) continue;
    const found = await menuEntry(entry.name);
    if (found !== undefined) menu.set(entry.name, found);
  }
  return menu;
}

/** Where a package is listed: an app under the app's name. */
export function findPackageId({ offered, local }: Lists, name: string): number | undefined {
  const own = findPackage(local, name);
  return own === undefined ? findPackage(offered, name) : offered.count + own;
}

/** The package that is listed there: of an app its meta package, if it has one. */
export function packageNameOf(view: Lists, id: number): string {
  const { index, row } = indexOf(view, id);
  const { name } = readRow(index, row);
  return isAppAt(index, row) && !isLuciAppAt(index, row) ? metaPackageOf(name) : name;
}

function isListedAsApp(view: Lists, packageName: string): boolean {
  const id = findPackageId(view, packageName);
  if (id === undefined) return false;
  const { index, row } = indexOf(view, id);
  return isAppAt(index, row);
}

export function indexOf({ offered, local }: Lists, id: number) {
  return id < offered.count
    ? { index: offered, row: id }
    : { index: local, row: id - offered.count };
}

export function findAppId({ offered, local }: Lists, name: string): number | undefined {
  const own = findRow(local, name, true);
  return own === undefined ? findRow(offered, name, true) : offered.count + own;
}

/** @returns also the rows of `offered` that they stand for */
async function buildLocal(
  { manager, offered, snapshot: { database, apps } }: ViewSources,
  menu: View['menu'],
): Promise<{ local: PackageIndex; hidden: ReadonlySet<number> }> {
  const builder = createIndexBuilder(manager.compareVersions, database.size);
  const hidden = new Set<number>();
  const undescribed = new Map<string, InstalledPackage>();
  const add = (row: SourceRow): void => builder.add(asInstalled(row, { apps, database, menu }));
  for (const entry of database.values()) {
    if (!isPresent(entry)) continue;
    const row = findPackage(offered, entry.name);
    if (row === undefined) undescribed.set(entry.name, entry);
    else if (isAppAt(offered, row)) {
      hidden.add(row);
      add(sourceOf(readRow(offered, row)));
    }
  }
  for await (const described of manager.listing.readInstalled([...undescribed.keys()])) {
    undescribed.delete(described.name);
    add(rowIn(described, ''));
  }
  for (const { name, version } of undescribed.values()) {
    add(rowIn({ ...NOTHING, name, version }, ''));
  }
  return { local: builder.finish(), hidden };
}

/** Whether it is an app is to be found out anew: an app may be installed that no feed offers. */
function sourceOf({ isLuciApp, ...row }: IndexRow): SourceRow {
  if (isLuciApp !== true) return row;
  return { ...row, isApp: false, title: '', tags: [], asApp: { ...row, isLuciApp } };
}

/** An installed app with what its own files say of it. */
function asInstalled(
  row: SourceRow,
  { apps, database, menu }: CatalogSnapshot & Pick<View, 'menu'>,
): SourceRow {
  if (row.isApp) {
    const name = metaPackageOf(row.name);
    const brings = luciAppsOf({ name, depends: database.get(name)?.depends ?? [] });
    return { ...withMeta(row, apps.get(row.name)?.meta), brings };
  }
  if (row.asApp === undefined) return row;
  return { ...row, asApp: { ...row.asApp, title: menu.get(row.name)?.title || row.asApp.title } };
}

/** What is said of a package whose records are gone. */
const NOTHING = {
  section: '',
  description: '',
  tags: [],
  downloadBytes: 0,
  installedBytes: 0,
  depends: [],
  time: 0,
};

function withMeta(row: SourceRow, meta: AppMeta | undefined): SourceRow {
  if (meta === undefined) return row;
  const { title = '', description = '', tags = [], description_en: english } = meta;
  const texts = { title: title || row.title, description: description || row.description, english };
  return { ...row, ...texts, tags };
}

/** What the files of an app or a package take; of an installed app, what its removal frees. */
export function installedBytesOf(view: View, id: number): number {
  const { index, row } = indexOf(view, id);
  return view.installed.get(id)?.freedBytes ?? index.installedBytes[row] ?? 0;
}

function statesIn(
  view: Lists,
  { database, apps }: CatalogSnapshot,
  found: {
    apps: readonly string[];
    freed: ReadonlyMap<string, number>;
    image: ReadonlySet<string>;
    upgradable: ReadonlySet<string>;
  },
): Map<number, InstalledState> {
  const states = new Map<number, InstalledState>();
  const stoppedBy = createSystemPackages(database, found.image);
  const { upgradable } = found;
  for (const entry of [...database.values()].filter(isPresent)) {
    const id = findPackageId(view, entry.name);
    if (id === undefined) continue;
    states.set(id, {
      version: entry.version,
      isAuto: entry.isAuto,
      isHeld: entry.isHeld === true,
      isBroken: entry.state !== 'installed' || entry.isDamaged === true,
      isUpgradable: upgradable.has(entry.name),
      isSystem: stoppedBy(entry.name).length > 0,
      isOfFirmware: found.image.has(entry.name) || entry.isEssential,
      time: entry.installedAt,
    });
  }
  for (const name of found.apps) {
    const state = states.get(findPackageId(view, name) ?? -1);
    if (state === undefined) continue;
    const { isBroken, components, english } = appState(name, apps);
    // An upgrade of an app upgrades what its meta file names, and what came with it.
    const upgraded = [...components, ...cameWith(database, components, found.image)];
    state.isUpgradable ||= upgraded.some((each) => upgradable.has(each));
    state.isBroken ||= isBroken;
    state.english = english;
    state.freedBytes = found.freed.get(name) ?? 0;
  }
  return states;
}

/** What is installed and offered in a newer version. */
function newerIn(view: Lists, { manager, snapshot: { database } }: ViewSources): string[] {
  const present = [...database.values()].filter(isPresent);
  return present.flatMap(({ name, version }) => {
    const id = findPackageId(view, name);
    if (id === undefined) return [];
    const { index, row } = indexOf(view, id);
    return manager.compareVersions(versionAt(index, row), version) > 0 ? [name] : [];
  });
}

/** @param packageName of an installed app */
function appState(packageName: string, apps: CatalogSnapshot['apps']) {
  const { name, isApp } = appOf(packageName);
  const app = isApp ? apps.get(name) : undefined;
  return {
    english: app?.meta?.description_en,
    isBroken: app !== undefined && app.meta === undefined,
    components: [packageName, ...(app?.meta?.depends ?? [])],
  };
}
