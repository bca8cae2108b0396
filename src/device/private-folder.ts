import { constants, lstatSync, type Stats } from 'node:fs';
import { lstat, mkdir, open, readlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DepotError, reasonOf, systemCode } from '../errors.ts';

/**
 * Folders whose names root writes, below folders that others can write, such as /tmp (sticky, mode
 * 1777). What is looked at on the way cannot be changed afterwards: each folder and each link must
 * belong to root or to this user, and a folder that everybody may write must be sticky, so that
 * nobody else can rename or replace what is in it (path_resolution(7), inode(7)). What is missing
 * is made, name by name, never through a link of somebody else.
 */

/**
 * A folder that nobody else can write, rename or replace. Links of root are followed.
 * @param mode of the folder if it is made
 * @returns its path without links
 * @throws DepotError unavailable that says whose fault it is
 */
export async function openTrustedFolder(path: string, mode = 0o700): Promise<string> {
  const { real, entry } = await walk(path, mode);
  if (isForEverybody(entry)) throw unusable(path, 'everybody may write in it');
  return real;
}

/**
 * A folder of this user that is no link. It is made for this user alone, unless it only has to be
 * found, and closed to others if they could write in it.
 * @returns the folder's descriptor, to be closed by the caller
 * @throws DepotError unavailable
 */
export async function openPrivateFolder(
  path: string,
  { isMade = true }: { isMade?: boolean } = {},
): Promise<FileHandle> {
  const real = join(await followTrusted(dirname(path), isMade ? 0o700 : undefined), basename(path));
  if (isMade) await makeFolder(real, 0o700).catch(refusal(path));
  const folder = await open(real, READ_FOLDER).catch(refusal(path));
  try {
    const { uid, mode } = await folder.stat();
    if (uid !== process.getuid?.()) throw unusable(path, `it belongs to the user ${uid}`);
    if ((mode & STICKY) !== 0) throw unusable(path, 'it is a folder for everybody');
    if ((mode & 0o022) !== 0) await folder.chmod(0o700);
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Whether a folder is there, no link, of this user, and closed to others. */
export async function isPrivateFolder(path: string): Promise<boolean> {
  const entry = await lstat(path).catch(() => undefined);
  return (
    entry?.isDirectory() === true && entry.uid === process.getuid?.() && (entry.mode & 0o077) === 0
  );
}

const READ_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const STICKY = 0o1000;
/** Most links on one way, as the kernel has it (path_resolution(7)). */
export const MOST_LINKS = 40;

/**
 * A folder, perhaps for everybody, in which what is root's stays root's: found name by name, as the
 * kernel does.
 * @param mode of the folder if it is to be made
 * @returns its path without links
 * @throws DepotError unavailable
 */
export async function followTrusted(path: string, mode: number | undefined): Promise<string> {
  return (await walk(path, mode)).real;
}

/**
 * A folder that is root's or this user's, as all are that lead there. Unlike one that is trusted it
 * may lie on a disk whose owner lets everybody rename what is on it, a share say: then that holds
 * for as long as nobody does.
 * @param mode of the folder if it is to be made
 * @throws DepotError unavailable
 */
export async function findOwnFolder(path: string, mode: number | undefined): Promise<void> {
  await walk(path, mode, { mayBeRenamed: true });
}

/** @returns the folder's path without links, and what it is */
async function walk(
  path: string,
  mode: number | undefined,
  { mayBeRenamed = false } = {},
): Promise<{ real: string; entry: Stats }> {
  const check = (at: string, entry: Stats): void => {
    if (!isOfRoot(entry)) throw unusable(path, `${at} belongs to the user ${entry.uid}`);
    // Names in it are only as good as the folder itself.
    if (!mayBeRenamed && isForEverybody(entry) && (entry.mode & STICKY) === 0) {
      throw unusable(path, `everybody may rename what is in ${at}`);
    }
  };
  const names = namesIn(path);
  let links = 0;
  const root = lstatSync('/');
  const memory = lstatSync(tmpdir(), { throwIfNoEntry: false });
  const isQuick = ({ dev }: Stats): boolean => dev === root.dev || dev === memory?.dev;
  let [at, found] = ['/', root];
  check(at, found);
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = join(at, name);
    const madeAs = names.length > 0 && mode !== undefined ? 0o755 : mode;
    const entry = await entryAt(next, madeAs, isQuick(found)).catch(refusal(path));
    if (entry.isSymbolicLink()) {
      if (!isOfRoot(entry)) throw unusable(path, `${next} belongs to the user ${entry.uid}`);
      links += 1;
      if (links > MOST_LINKS) throw unusable(path, 'too many links lead there');
      const target = await readlink(next);
      names.unshift(...namesIn(target));
      if (target.startsWith('/')) [at, found] = ['/', root];
    } else {
      if (!entry.isDirectory()) throw unusable(path, `${next} is no folder`);
      [at, found] = [next, entry];
      check(at, found);
    }
  }
  return { real: at, entry: found };
}

function namesIn(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/**
 * What stands there; with a mode a folder is made if nothing does.
 * @param isQuick whether its file system answers at once, as one on a disk may not
 */
async function entryAt(path: string, mode: number | undefined, isQuick: boolean): Promise<Stats> {
  const look = async (): Promise<Stats> => (isQuick ? lstatSync(path) : lstat(path));
  return look().catch(async (error: unknown) => {
    if (mode === undefined || systemCode(error) !== 'ENOENT') throw error;
    await makeFolder(path, mode);
    return look();
  });
}

/**
 * Not those above, which may have gone with their disk. Somebody else may make it in the same
 * moment: it has to be looked at in any case.
 */
export async function makeFolder(path: string, mode = 0o700): Promise<void> {
  await mkdir(path, { mode }).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
  });
}

/** Or this user's, who is root on a device. */
export function isOfRoot({ uid }: Pick<Stats, 'uid'>): boolean {
  return uid === 0 || uid === process.getuid?.();
}

function isForEverybody({ mode }: Stats): boolean {
  return (mode & 0o002) !== 0;
}

function refusal(path: string): (error: unknown) => never {
  return (error) => {
    const isOther = ['ELOOP', 'ENOTDIR'].includes(systemCode(error) ?? '');
    throw unusable(path, isOther ? 'it is no folder' : reasonOf(error), error);
  };
}

function unusable(path: string, why: string, cause?: unknown): DepotError {
  return new DepotError('unavailable', `cannot use the folder ${path}: ${why}`, { cause });
}
