import { lstat, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { freeBytesOf } from '../../device/disk/space.ts';
import { readJson, replaceFile, syncPath } from '../../device/durable-file.ts';
import type { Paths } from '../../device/paths.ts';
import { reasonOf } from '../../errors.ts';
import type { StepContext } from '../../jobs/plan.ts';
import type { PackageChange, PackageManager, PlannedPackage } from '../manager.ts';
import type { InstalledPackage, PackageDatabase } from '../database.ts';
import { byName } from '../names.ts';

/**
 * Copies of packages that a job replaces or removes, packed as they are installed: feeds have old
 * versions no longer. Invariants:
 *  - a copy that the index names is whole, and of the version of before the job;
 *  - a copy never takes room that the change itself needs: without room there is none.
 */
export type KeptPackages = ReturnType<typeof createKeptPackages>;

export interface KeepTask {
  key: string;
  change: PackageChange;
  /** What it replaces, if that is known already; default: as the package manager itself says. */
  goes?: Replacement;
  before: PackageDatabase;
}

export interface KeptPackage {
  version: string;
  /** As `Restoration.recordsOf` has it. */
  record: string;
  file: string;
}

const indexSchema = v.object({
  key: v.string(),
  packages: byName(v.object({ version: v.string(), record: v.string() })),
});
type Index = v.InferOutput<typeof indexSchema>;

/** Left free beside the copies and what the change adds. */
const FREE_BYTES = 2 * 1024 ** 2;

export function createKeptPackages(
  folder: string,
  options: {
    manager: PackageManager;
    paths: Paths;
    /** Bytes that all copies may take, reckoned unpacked. Default: as there is room. */
    room?: () => number;
  },
) {
  const { manager, paths, room = () => Infinity } = options;
  const indexFile = join(folder, 'index.json');
  const forget = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const readIndex = async (key: string): Promise<Index> => {
    const found = v.safeParse(indexSchema, await readJson(indexFile));
    return found.success && found.output.key === key ? found.output : { key, packages: {} };
  };
  const fileOf = (name: string): string => join(folder, `${name}.${manager.files.ending}`);
  const keepOne = async (key: string, name: string, version: string): Promise<void> => {
    const record = (await (await manager.restoration()).recordsOf([name])).get(name);
    if (record === undefined) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await manager.selfUpgrade.pack(name, fileOf(name));
    await syncPath(fileOf(name));
    const { packages } = await readIndex(key);
    const index: Index = { key, packages: { ...packages, [name]: { version, record } } };
    await replaceFile(indexFile, `${JSON.stringify(index)}\n`);
  };
  return {
    /** Forgets what was kept for another job. */
    begin: async (key: string): Promise<void> => {
      if (Object.keys((await readIndex(key)).packages).length === 0) await forget();
    },
    /** Packs what a change is about to replace or remove. What cannot be packed is noted. */
    keep: async (
      { key, change, before, goes }: KeepTask,
      { note }: Pick<StepContext, 'note'>,
    ): Promise<void> => {
      const { names, growthBytes } = goes ?? (await replacedBy(manager, change));
      const { packages } = await readIndex(key);
      const now = await manager.installed();
      let left = room();
      for (const name of names) {
        const version = before.get(name)?.version;
        const isAsBefore = before.get(name)?.state === 'installed';
        if (version === undefined || !isAsBefore || !isWhole(now.get(name), version)) continue;
        if (Object.hasOwn(packages, name)) continue;
        const bytes = await bytesOf(name, { manager, paths });
        const needed = bytes + growthBytes + FREE_BYTES;
        if (bytes > left || needed > (await freeBytesOf(dirname(folder)))) {
          await note(`there is no room for a copy of ${name} ${version}`);
          continue;
        }
        left -= bytes;
        await keepOne(key, name, version).catch((error: unknown) =>
          note(`there is no copy of ${name} ${version}: ${reasonOf(error)}`),
        );
      }
    },
    find: async (key: string): Promise<ReadonlyMap<string, KeptPackage>> => {
      const { packages } = await readIndex(key);
      return new Map(
        Object.entries(packages).map(([name, kept]) => [name, { ...kept, file: fileOf(name) }]),
      );
    },
    forget,
  };
}

/** A damaged package is not kept: its files are not what its record says. */
function isWhole(entry: InstalledPackage | undefined, version: string): boolean {
  return entry?.version === version && entry.isDamaged !== true;
}

export interface Replacement {
  names: ReadonlySet<string>;
  /** What the change adds to the disk. */
  growthBytes: number;
}

/** What a change replaces or removes, by the manager. @param planned what it has said already */
export async function replacedBy(
  manager: PackageManager,
  change: PackageChange,
  planned?: readonly PlannedPackage[],
): Promise<Replacement> {
  const { verb, names, file } = change;
  const asked = file === undefined ? names : [file.name];
  // A hint: what it does not name can still come back from a feed.
  const changes = planned ?? (await manager.preview(change).catch(() => undefined))?.changes ?? [];
  const replaced = changes.filter(({ action }) => action !== 'install').map(({ name }) => name);
  return {
    names: new Set([...(verb === 'install' && file === undefined ? [] : asked), ...replaced]),
    growthBytes: changes.reduce((sum, { diskBytes }) => sum + Math.max(0, diskBytes), 0),
  };
}

/** The bytes of a package's files: a copy is smaller, but packing takes that much for a while. */
export async function bytesOf(
  name: string,
  { manager, paths }: { manager: PackageManager; paths: Paths },
): Promise<number> {
  const { files = [] } = (await manager.listing.record(name)) ?? {};
  let bytes = 0;
  for (const file of files) {
    const entry = await lstat(paths.onDevice(file)).catch(() => undefined);
    bytes += entry?.isFile() === true ? entry.size : 0;
  }
  return bytes;
}
