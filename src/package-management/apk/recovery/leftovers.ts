import { createHash } from 'node:crypto';
import { lstat, readdir, readlink, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasEntry } from '../../../device/is-there.ts';
import { piecesOf } from '../../../device/owner-file.ts';
import { followTrusted } from '../../../device/private-folder.ts';
import {
  readFilesOf,
  readInstalled,
  type InstalledRecord,
  type RecordedFile,
} from '../database/installed-db.ts';
import type { Installation } from '../installation.ts';
import { findAbsent } from '../planning/file-checks.ts';
import type { TransactionRecord } from './transaction-record.ts';

/** What a command that was cut off left on the disk and not on record, or the other way round. */
export interface Leftovers {
  /** Packages whose files are there, and that are not on record. */
  installed: string[];
  /** Packages that are on record as they were, and whose files are those of another version. */
  changed: string[];
  /** Packages that are on record, and whose files are gone. */
  removed: string[];
}

/**
 * apk records nothing until all is done, so only what its plan named has to be looked at.
 * @param isRecordDoubted after a power cut: what is on record may have reached the medium before
 *   the files did, which are empty then
 */
export async function findLeftovers(
  { changes, created, absent }: TransactionRecord,
  { root, locations }: Pick<Installation, 'root' | 'locations'>,
  isRecordDoubted: boolean,
): Promise<Leftovers> {
  const names = new Set(changes.map(({ name }) => name));
  const { records, files } = await readFilesOf(locations.installed, (name) => names.has(name));
  const found: Leftovers = { installed: [], changed: [], removed: [] };
  for (const { action, name, from, to } of changes) {
    const record = records.get(name);
    if (record === undefined) {
      const isLeftBehind = action === 'Installing' && (await isAnyThere(root, created[name]));
      if (isLeftBehind) found.installed.push(name);
      continue;
    }
    const doubted = isRecordDoubted ? [from, to] : [from];
    if (from === to || !doubted.includes(record.version)) continue;
    const isGoing = action === 'Purging';
    const its = files.filter(({ owner }) => owner === name);
    const isFaulty = await hasFault(record, its, { root, absent: isGoing ? absent : undefined });
    if (isFaulty) found[isGoing ? 'removed' : 'changed'].push(name);
  }
  return found;
}

async function isAnyThere(
  root: string,
  created: TransactionRecord['created'][string] | undefined,
): Promise<boolean> {
  const made = [...(created?.files ?? []), ...(created?.folders ?? [])];
  return (await findAbsent(root, made)).length < made.length;
}

/**
 * Files below /etc are the owner's: apk leaves them, too, when they differ.
 * @param absent of a package that goes, those that its owner had removed: the others are what apk
 *   removes first
 */
async function hasFault(
  record: InstalledRecord,
  files: readonly RecordedFile[],
  { root, absent }: { root: string; absent: readonly string[] | undefined },
): Promise<boolean> {
  for (const { path, hash } of files) {
    const isWhole = isSetting(path)
      ? absent === undefined || absent.includes(path) || (await hasEntry(join(root, path)))
      : await hasHash(join(root, path), hash, record);
    if (!isWhole) return true;
  }
  return false;
}

function isSetting(path: string): boolean {
  return path.startsWith('etc/');
}

/** The files below /etc that are missing though these packages have them on record. */
export async function absentSettings(
  names: readonly string[],
  { root, locations }: Pick<Installation, 'root' | 'locations'>,
): Promise<string[]> {
  if (names.length === 0) return [];
  const { files } = await readFilesOf(locations.installed, (name) => names.includes(name));
  return findAbsent(root, files.map(({ path }) => path).filter(isSetting));
}

/** `Q1` and 20 bytes: SHA-1, or the beginning of SHA-256; of a link that of its target. */
export async function hasHash(
  path: string,
  hash: string,
  { hasSha256 }: Pick<InstalledRecord, 'hasSha256'>,
): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined);
  if (entry === undefined) return false;
  if (hash === '') return true;
  const sum = createHash(hasSha256 ? 'sha256' : 'sha1');
  if (entry.isSymbolicLink()) sum.update(await readlink(path));
  else if (entry.isFile()) {
    for await (const piece of piecesOf(path)) sum.update(piece);
  } else return true;
  return sum.digest().subarray(0, 20).toString('base64') === hash.slice('Q1'.length);
}

/**
 * Removes what a cut-off installation put there, so far as it was not there before and no package
 * has it on record.
 */
export async function removeLeftovers(
  names: readonly string[],
  { created }: TransactionRecord,
  { root, locations }: Pick<Installation, 'root' | 'locations'>,
): Promise<void> {
  const mine = new Set(names.flatMap((name) => created[name]?.files ?? []));
  const owned = new Set<string>();
  await readInstalled(locations.installed, {
    filesOf: () => true,
    onFile: ({ path }) => {
      if (mine.has(path)) owned.add(path);
    },
  });
  for (const path of mine) if (!owned.has(path)) await removeFile(join(root, path));
  const folders = new Set(names.flatMap((name) => created[name]?.folders ?? []));
  for (const folder of [...mine].map((path) => dirname(path))) {
    await removeTemporary(join(root, folder));
  }
  for (const path of [...folders].sort().reverse()) {
    await removeTemporary(join(root, path));
    const above = await trustedFolder(dirname(join(root, path)));
    // A folder that is not empty has something of somebody else's.
    if (above !== undefined) await rmdir(join(above, basename(path))).catch(() => undefined);
  }
  await removeDeadLinks(root, mine);
}

/**
 * Removes settings that a cut-off installation put there. apk would take one that is empty now for
 * its owner's, and leave it.
 */
export async function removeNewSettings(
  names: readonly string[],
  { created }: TransactionRecord,
  root: string,
): Promise<void> {
  const paths = names.flatMap((name) => created[name]?.files ?? []).filter(isSetting);
  for (const path of paths) await removeFile(join(root, path));
}

export async function removeTemporary(folder: string): Promise<void> {
  for (const file of await findTemporary(folder)) await removeFile(file);
}

/** Where others can write, a folder may have become a link that leads root elsewhere. */
async function removeFile(path: string): Promise<void> {
  const folder = await trustedFolder(dirname(path));
  if (folder !== undefined) await rm(join(folder, basename(path)), { force: true });
}

/** @returns undefined for one that is gone, or that somebody else can replace on the way */
function trustedFolder(path: string): Promise<string | undefined> {
  return followTrusted(path, undefined).catch(() => undefined);
}

/** Under these names apk writes a file before it renames it. */
export async function findTemporary(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => /^\.apk\.[0-9a-f]{48}$/.test(name))
    .map((name) => join(folder, name));
}

/** A service that was enabled has links in rc.d, which no package has on record. */
async function removeDeadLinks(root: string, removed: ReadonlySet<string>): Promise<void> {
  const folder = join(root, 'etc/rc.d');
  for (const name of await readdir(folder).catch(() => [])) {
    const target = await readlink(join(folder, name)).catch(() => '');
    const script = /^(?:\.\.|\/etc)\/init\.d\/([^/]+)$/.exec(target)?.[1];
    if (script !== undefined && removed.has(`etc/init.d/${script}`)) {
      await rm(join(folder, name), { force: true });
    }
  }
}
