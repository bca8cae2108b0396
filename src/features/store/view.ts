import type { AppMeta, CatalogSnapshot } from '../packages/catalog.ts';
import type { PackageDescription } from '../packages/listing.ts';
import { appOf } from '../packages/names.ts';
import { isPresent, type InstalledPackage } from '../packages/package-database.ts';
import type { PackageManager } from '../packages/package-manager.ts';
import {
  createIndexBuilder,
  findRow,
  firstNotBefore,
  foldedName,
  readRow,
  versionAt,
  type IndexRow,
  type PackageIndex,
} from './package-index.ts';
import { freedBytes } from './freed-bytes.ts';
import { rowIn } from './row.ts';

/**
 * What feeds offer and what is installed, as one list. Ids are the rows of `offered`, then those of
 * `local`.
 */
export interface View {
  offered: PackageIndex;
  /** What is installed and not offered, and installed apps: their own meta file describes them. */
  local: PackageIndex;
  /** All ids by name. */
  order: Uint32Array;
  installed: ReadonlyMap<number, InstalledState>;
  /** Names that have a picture. */
  icons: ReadonlySet<string>;
}

export interface InstalledState {
  version: string;
  isAuto: boolean;
  isHeld: boolean;
  isBroken: boolean;
  isUpgradable: boolean;
  /** Whether the firmware's image brought it. */
  isSystem: boolean;
  /** Of its installation, Unix seconds; 0 if nobody knows. */
  time: number;
  /** Of an app what its removal frees; else undefined. */
  freedBytes?: number;
}

export interface ViewSources {
  manager: Pick<PackageManager, 'listing' | 'compareVersions' | 'imagePackages'>;
  offered: PackageIndex;
  snapshot: CatalogSnapshot;
  icons: ReadonlySet<string>;
}

export async function buildView(sources: ViewSources): Promise<View> {
  const { offered, icons } = sources;
  const { local, hidden } = await buildLocal(sources);
  const order = mergeByName(offered, local, hidden);
  const view = { offered, local, order, icons };
  const image = await sources.manager.imagePackages();
  const found = { freed: await freedBytes({ ...sources, image }), image };
  return { ...view, installed: statesIn(view, sources, found) };
}

export function indexOf(
  { offered, local }: Pick<View, 'offered' | 'local'>,
  id: number,
): { index: PackageIndex; row: number } {
  return id < offered.count
    ? { index: offered, row: id }
    : { index: local, row: id - offered.count };
}

export function findId(
  { offered, local }: Pick<View, 'offered' | 'local'>,
  name: string,
  isApp: boolean,
): number | undefined {
  const own = findRow(local, name, isApp);
  return own === undefined ? findRow(offered, name, isApp) : offered.count + own;
}

/** @returns also the rows of `offered` that they stand for */
async function buildLocal({
  manager,
  offered,
  snapshot: { database, apps },
}: ViewSources): Promise<{ local: PackageIndex; hidden: ReadonlySet<number> }> {
  const builder = createIndexBuilder(manager.compareVersions, database.size);
  const hidden = new Set<number>();
  const undescribed = new Map<string, InstalledPackage>();
  const add = (row: IndexRow): void =>
    builder.add(row.isApp ? withMeta(row, apps.get(row.name)?.meta) : row);
  for (const entry of database.values()) {
    if (!isPresent(entry)) continue;
    const { name, isApp } = appOf(entry.name);
    const row = findRow(offered, name, isApp);
    if (row === undefined) undescribed.set(entry.name, entry);
    else if (isApp) {
      hidden.add(row);
      add(readRow(offered, row));
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

/** What is said of a package whose records are gone. */
const NOTHING: PackageDescription = {
  name: '',
  version: '',
  section: '',
  description: '',
  tags: [],
  downloadBytes: 0,
  installedBytes: 0,
  depends: [],
  provides: [],
  conflicts: [],
  isEssential: false,
  homepage: '',
  license: '',
  maintainer: '',
  time: 0,
};

function withMeta(row: IndexRow, meta: AppMeta | undefined): IndexRow {
  if (meta === undefined) return row;
  const { title = '', description = '', tags = [] } = meta;
  return { ...row, title: title || row.title, description: description || row.description, tags };
}

function mergeByName(
  offered: PackageIndex,
  local: PackageIndex,
  hidden: ReadonlySet<number>,
): Uint32Array {
  const order = new Uint32Array(offered.count + local.count - hidden.size);
  let size = 0;
  let next = 0;
  const addOfferedUntil = (end: number): void => {
    for (; next < end; next += 1) {
      if (hidden.has(next)) continue;
      order[size] = next;
      size += 1;
    }
  };
  for (let row = 0; row < local.count; row += 1) {
    addOfferedUntil(positionAmong(offered, local, row));
    order[size] = offered.count + row;
    size += 1;
  }
  addOfferedUntil(offered.count);
  return order;
}

/** An app stands before the packages of its name. */
function positionAmong(offered: PackageIndex, local: PackageIndex, row: number): number {
  const folded = foldedName(local, row);
  let position = firstNotBefore(offered, folded);
  if (local.apps[row] === 1) return position;
  while (position < offered.count && foldedName(offered, position) === folded) position += 1;
  return position;
}

/** What the files of an app or a package take; of an installed app, what its removal frees. */
export function installedBytesOf(view: View, id: number): number {
  const { index, row } = indexOf(view, id);
  return view.installed.get(id)?.freedBytes ?? index.installedBytes[row] ?? 0;
}

function statesIn(
  view: Pick<View, 'offered' | 'local'>,
  { manager, snapshot: { database, apps } }: ViewSources,
  { freed, image }: { freed: ReadonlyMap<string, number>; image: ReadonlySet<string> },
): Map<number, InstalledState> {
  const states = new Map<number, InstalledState>();
  const upgradable = new Set<string>();
  for (const entry of [...database.values()].filter(isPresent)) {
    const { name, isApp } = appOf(entry.name);
    const id = findId(view, name, isApp);
    if (id === undefined) continue;
    const { index, row } = indexOf(view, id);
    const isUpgradable = manager.compareVersions(versionAt(index, row), entry.version) > 0;
    if (isUpgradable) upgradable.add(entry.name);
    states.set(id, { ...stateOf(entry), isUpgradable, isSystem: image.has(entry.name) });
  }
  for (const [name, { meta }] of apps) {
    const state = states.get(findId(view, name, true) ?? -1);
    if (state === undefined) continue;
    // An upgrade of an app upgrades the packages that its meta file names.
    state.isUpgradable ||= meta?.depends?.some((wanted) => upgradable.has(wanted)) === true;
    state.isBroken ||= meta === undefined;
    state.freedBytes = freed.get(name) ?? 0;
  }
  return states;
}

function stateOf(
  entry: InstalledPackage,
): Pick<InstalledState, 'version' | 'isAuto' | 'isHeld' | 'isBroken' | 'time'> {
  return {
    version: entry.version,
    isAuto: entry.isAuto,
    isHeld: entry.isHeld === true,
    isBroken: entry.state !== 'installed' || entry.isDamaged === true,
    time: entry.installedAt,
  };
}
