import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isPrivateFolder } from '../../../device/private-folder.ts';
import type { PackageDatabase } from '../../database.ts';
import { isInfoOf, listedFiles, wasWrittenAfter, writtenAfter } from '../database/info-folder.ts';

/**
 * Removes what a killed opkg leaves behind: files and `info/NAME.*` of packages that the status
 * file does not know, if their list was written after `since`; no file that another package lists.
 * @returns the names of the packages whose files were removed
 */
export async function removeOrphans(options: OrphanOptions): Promise<string[]> {
  const { infoDir, destination } = options;
  const infoFiles = await readdir(infoDir).catch(() => []);
  const orphans = await findOrphans(options);
  if (orphans.length === 0) return [];
  const others = listedIn(infoFiles).filter((name) => !orphans.includes(name));
  const owned = await filesOf(infoDir, others);
  for (const name of orphans) {
    for (const file of await filesOf(infoDir, [name])) {
      if (!owned.has(file)) await rm(join(destination, file), { force: true });
    }
    for (const file of infoFiles) {
      if (isInfoOf(file, name)) await rm(join(infoDir, file), { force: true });
    }
  }
  return orphans;
}

/**
 * Removes the folders of killed opkgs: each holds what was downloaded, in memory on most devices.
 * An opkg makes its own when it has the lock, so if nobody holds it after they are listed, they
 * are nobody's. Only those made by this user after `since` (Unix seconds) are touched.
 */
export async function removeTemporaryFolders(
  folder: string,
  since: number,
  lockHolder: () => Promise<number | undefined>,
): Promise<void> {
  const isDownloads = (name: string): boolean => /^opkg-[A-Za-z0-9]{6}$/.test(name);
  const names = (await readdir(folder).catch(() => [])).filter(isDownloads);
  if (names.length === 0 || (await lockHolder()) !== undefined) return;
  for (const path of names.map((name) => join(folder, name))) {
    if ((await isPrivateFolder(path)) && (await wasWrittenAfter(path, since))) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

interface OrphanOptions {
  infoDir: string;
  destination: string;
  database: PackageDatabase;
  /** Unix seconds. */
  since: number;
}

/** Packages with records and no status entry. While an opkg runs, its own are among them. */
export async function findOrphans({ infoDir, database, since }: OrphanOptions): Promise<string[]> {
  return (await writtenAfter(infoDir, since)).filter((name) => {
    const state = database.get(name)?.state;
    return state === undefined || state === 'not-installed';
  });
}

/** Packages whose list of files names nothing, as a power cut leaves it. */
export async function withoutList(infoDir: string, names: readonly string[]): Promise<string[]> {
  const without = [];
  for (const name of names) if ((await filesOf(infoDir, [name])).size === 0) without.push(name);
  return without;
}

/** Removes those of the files, absolute, that came after `since` and that no package lists. */
export async function removeUnowned(
  { infoDir, destination, since }: Pick<OrphanOptions, 'infoDir' | 'destination' | 'since'>,
  files: readonly string[],
): Promise<void> {
  const owned = await filesOf(infoDir, listedIn(await readdir(infoDir)));
  for (const file of files) {
    const path = join(destination, file);
    const entry = await lstat(path).catch(() => undefined);
    if (entry === undefined || entry.isDirectory() || owned.has(file)) continue;
    if (await wasWrittenAfter(path, since)) await rm(path, { force: true });
  }
}

function listedIn(infoFiles: readonly string[]): string[] {
  return infoFiles.flatMap((file) => /^(.+)\.list$/.exec(file)?.[1] ?? []);
}

/** A list that names a path outside of the device is not followed. */
async function filesOf(infoDir: string, names: readonly string[]): Promise<Set<string>> {
  const files = new Set<string>();
  for (const name of names) {
    for (const path of await listedFiles(infoDir, name)) {
      if (path.startsWith('/') && !path.split('/').includes('..')) files.add(path);
    }
  }
  return files;
}
