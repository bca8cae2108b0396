import { join } from 'node:path';
import * as v from 'valibot';
import { readJson } from '../../device/durable-file.ts';
import type { Paths } from '../../device/paths.ts';
import { isPresent, type PackageDatabase } from '../database.ts';
import { MOST_LIST_BYTES } from '../feed-settings.ts';
import type { PackageManager } from '../manager.ts';
import { byName } from '../names.ts';
import { noUpgradesFile } from '../no-upgrades.ts';
import type { FileScope } from './file-states.ts';
import type { UndoStore } from './undo-store.ts';

export interface UndoTools {
  manager: PackageManager;
  paths: Paths;
  store: UndoStore;
}

/** How it was ahead of the change; gone when the job is through. */
export const beforeSchema = v.object({
  packages: byName(v.string()),
  /** What the package manager tells two builds of a version by. */
  builds: v.optional(byName(v.string()), {}),
  records: byName(v.string()),
  /** The bytes that replaced packages take, by name. */
  bytes: byName(v.number()),
  files: v.record(v.string(), v.string()),
  /** Files of packages that are replaced, which come back with them. */
  owned: v.array(v.string()),
});
export type Before = v.InferOutput<typeof beforeSchema>;
/** What the folder has of a job that is through. */
const manifestSchema = v.object({
  replaced: v.record(v.string(), v.unknown()),
  records: byName(v.string()),
  /** SHA-256 by path in the folder. */
  sums: v.record(v.string(), v.string()),
});

export type Manifest = v.InferOutput<typeof manifestSchema>;

export const [BEFORE, MANIFEST, FILES] = ['before.json', 'manifest.json', 'files'];

export async function readManifest(folder: string) {
  const kept = v.fallback(v.optional(manifestSchema), undefined);
  return v.parse(kept, await readJson(join(folder, MANIFEST)));
}

export function versionsIn(database: PackageDatabase): Record<string, string> {
  const present = [...database.values()].filter(isPresent);
  return Object.fromEntries(present.map(({ name, version }) => [name, version]));
}

export async function recordsIn(manager: PackageManager, database: PackageDatabase) {
  const present = [...database.values()].filter(isPresent);
  const names = present.flatMap(({ name, askedAs = [] }) => [name, ...askedAs]);
  return (await manager.restoration()).recordsOf([...new Set(names)]);
}

/** Files below /etc that come and go with packages themselves. */
export async function filesOf(manager: PackageManager, paths: Paths, names: readonly string[]) {
  const found: string[] = [];
  for (const name of names) {
    const { files = [], config = [] } = (await manager.listing.record(name)) ?? {};
    found.push(...files.filter((file) => file.startsWith('/etc/') && !config.includes(file)));
  }
  return found.map(paths.onDevice);
}

/** What a change of the feeds, or of their lists, may replace. */
export function feedScope(
  { feeds }: Pick<PackageManager, 'feeds'>,
  paths?: Paths,
): () => Promise<FileScope> {
  return async () => {
    const { settings, lists } = await feeds.files();
    const own = paths === undefined ? [] : [noUpgradesFile(paths)];
    return { roots: [...settings, ...own, ...lists], excluded: [], mostFileBytes: MOST_LIST_BYTES };
  };
}

/** Largest file below /etc that is kept. */
const MOST_FILE_BYTES = 256 * 1024;

/** Below /etc, but for what belongs to depotd or the package manager, and for keys. */
export function settingsScope({ onDevice, stateDir }: Paths): () => Promise<FileScope> {
  const excluded = ['/etc/apk/world', '/etc/shadow', '/etc/shadow-', '/etc/dropbear', '/etc/ssh'];
  return () =>
    Promise.resolve({
      roots: [onDevice('/etc')],
      excluded: [...excluded.map(onDevice), stateDir],
      mostFileBytes: MOST_FILE_BYTES,
    });
}
