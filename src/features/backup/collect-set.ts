import { readdir, readFile } from 'node:fs/promises';
import { machine } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { VERSION } from '../../config/environment.ts';
import { hasEntry } from '../../device/is-there.ts';
import type { Paths } from '../../device/paths.ts';
import type { Notes } from '../../device/ports.ts';
import { unixNow } from '../../jobs/job.ts';
import { isPresent, type InstalledPackage } from '../../package-management/database.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import { isPackageName } from '../../package-management/names.ts';
import { keptFiles } from './kept-files.ts';
import { managerName } from './manager-files.ts';
import {
  FORMAT,
  hasTooMuch,
  MOST_CONFIGURATION_BYTES,
  type KeptFile,
  type Manifest,
  type Reason,
} from './manifest.ts';
import { measure, type SourceOf } from './write-set.ts';

export interface CollectTools {
  manager: PackageManager;
  paths: Paths;
  notes: Notes;
}

const WARNING =
  'This backup holds passwords and keys. Keep it where nobody else can read it. ' +
  'See docs/reference/backup.md of depotd for its format.';

/**
 * What a set is to hold, beside package files: what is asked for by the owner, and the
 * configuration of the device unless that is left out.
 */
export async function collect(
  tools: CollectTools,
  { id, reason }: { id: string; reason: Reason },
): Promise<{ manifest: Manifest; sourceOf: SourceOf }> {
  const { manager, paths } = tools;
  const wanted = await wantedPackages(tools);
  const { feeds } = await manager.feeds.read();
  const custom = feeds.filter(({ kind, isEnabled }) => kind === 'custom' && isEnabled);
  const manifest: Manifest = {
    format: FORMAT,
    id,
    made_at: unixNow(),
    reason,
    warning: WARNING,
    depotd: VERSION,
    release: await releaseOf(paths),
    architecture: (await manager.architecture().catch(() => '')) || machine(),
    package_manager: v.parse(managerName, manager.name),
    packages: wanted,
    held: await heldDependencies(manager),
    feeds: custom.map(({ name, url }) => ({ name: name.slice(0, 200), url: url.slice(0, 600) })),
    disabled: await disabledServices(tools),
    // After a firmware upgrade the device has its own, which may be newer.
    files: reason === 'firmware' ? [] : await filesOf(tools),
    package_files: [],
  };
  return { manifest, sourceOf: (name) => paths.onDevice(name.replace(/^files/, '')) };
}

/** DISTRIB_RELEASE, else VERSION_ID; empty if nothing says it. */
export async function releaseOf({ onDevice }: Paths): Promise<string> {
  const files = ['/etc/openwrt_release', '/etc/os-release'].map(onDevice);
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  const [, release = ''] =
    /^(?:DISTRIB_RELEASE|VERSION_ID)=["']?([\w.+ -]{1,64})/m.exec(texts.join('\n')) ?? [];
  return release;
}

/** What is installed and came beside the image. */
export async function addedPackages(manager: PackageManager): Promise<InstalledPackage[]> {
  const [database, image] = [await manager.installed(), await manager.imagePackages()];
  return [...database.values()].filter((entry) => isPresent(entry) && !image.has(entry.name));
}

async function wantedPackages({ manager, notes }: CollectTools): Promise<Manifest['packages']> {
  const uploads = await uploadedPackages(notes);
  return (await addedPackages(manager))
    .flatMap(({ name, version, isAuto, isHeld }) =>
      isAuto || !isPackageName(name)
        ? []
        : {
            ...{ name, version },
            ...(isHeld === true ? { is_held: true } : {}),
            ...(uploads.has(name) ? { is_upload: true } : {}),
          },
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function heldDependencies(manager: PackageManager): Promise<Manifest['held']> {
  return (await addedPackages(manager))
    .flatMap(({ name, isAuto, isHeld }) =>
      isAuto && isHeld === true && isPackageName(name) ? [name] : [],
    )
    .sort();
}

const ofPackage = v.looseObject({ package: v.string() });

/** What run records say that files which were sent brought; `uploads` keeps them. */
async function uploadedPackages(notes: Notes): Promise<Set<string>> {
  const records = await notes.read('run-records');
  const known = (Array.isArray(records) ? records : []).filter((record) => v.is(ofPackage, record));
  return new Set(known.map((record) => record.package));
}

/** Services that came beside the image and have no link that starts them. */
async function disabledServices({ manager, paths }: CollectTools): Promise<string[]> {
  const links = await readdir(paths.onDevice('/etc/rc.d')).catch(() => []);
  const starting = links.filter((name) => name.startsWith('S'));
  const started = new Set(starting.map((name) => name.slice(3)));
  const found = new Set<string>();
  for (const { name } of await addedPackages(manager)) {
    for (const file of (await manager.listing.record(name))?.files ?? []) {
      const [, service] = /^\/etc\/init\.d\/([A-Za-z0-9][A-Za-z0-9._-]{0,99})$/.exec(file) ?? [];
      if (service !== undefined && !started.has(service)) found.add(service);
    }
  }
  return [...found].sort();
}

/** The owner's files in the daemon's folder: the rest are records of this very device. */
const OWN_FILES = ['password', 'run-records.json', 'device-id.json', 'feeds-without-upgrades.json'];

/** The daemon's state folder as the device has it. */
export function stateFolder({ root, stateDir }: Pick<Paths, 'root' | 'stateDir'>): string {
  return stateDir.slice(root === '/' ? 0 : root.length);
}

async function filesOf({ manager, paths }: CollectTools): Promise<KeptFile[]> {
  const stateDir = stateFolder(paths);
  const kept = await keptFiles(paths);
  const own = OWN_FILES.map((name) => join(stateDir, name));
  const names = new Set([
    ...kept.filter((path) => !path.startsWith(`${stateDir}/`)),
    ...(await ownerKeys(manager, paths)),
    '/etc/config/depotd',
    ...own,
  ]);
  const files: KeptFile[] = [];
  for (const path of [...names].sort()) {
    const found = await measure(paths.onDevice(path), MOST_CONFIGURATION_BYTES);
    if (found !== undefined) files.push({ path, ...found });
    // No set is made of it, whatever else there is.
    if (hasTooMuch({ files })) break;
  }
  return files;
}

/** Keys of feeds that the image did not bring: OpenWrt mounts the image at /rom. */
export async function ownerKeys(
  manager: Pick<PackageManager, 'feeds'>,
  { root, onDevice }: Paths,
): Promise<string[]> {
  const paths = (await manager.feeds.keys()).map(({ file }) =>
    root === '/' ? file : file.slice(root.length),
  );
  const isOfImage = await Promise.all(paths.map((path) => hasEntry(onDevice(`/rom${path}`))));
  return paths.filter((_, index) => isOfImage[index] === false);
}
