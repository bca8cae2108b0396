import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, rename, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { DepotError, systemCode } from '../../errors.ts';

const READ_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Removes a folder with all that is in it. Each folder on the way is opened by its name in the one
 * before, and never through a link: whoever exchanges a folder meanwhile (a container that has it
 * mounted) sends nobody anywhere else. Another file system is not entered. What has gone is gone,
 * so that it may be done again.
 * @param path absolute and normalised
 */
export async function removeFolder(path: string): Promise<void> {
  const names = path.split('/').slice(1);
  const last = names.pop() ?? '';
  if (last === '') throw new DepotError('internal', `cannot remove the folder ${path}`);
  let folder = await open('/', READ_FOLDER);
  try {
    for (const name of names) {
      const next = await open(at(folder, Buffer.from(name)), READ_FOLDER);
      await folder.close();
      folder = next;
    }
    await removeEntry({ folder, depth: 0 }, Buffer.from(last), {
      device: (await folder.stat()).dev,
      moved: 0,
    });
  } catch (error) {
    ignoreMissing(error);
  } finally {
    await folder.close();
  }
}

/** Each folder on the way is held open: what lies deeper is moved up first. */
const MOST_DEPTH = 100;

interface Removal {
  device: number;
  /** What is removed, once it is open. */
  top?: FileHandle;
  /** How many folders were moved up into it. */
  moved: number;
}

async function removeEntry(
  { folder: parent, depth }: { folder: FileHandle; depth: number },
  name: Buffer,
  removal: Removal,
): Promise<void> {
  const path = at(parent, name);
  if (!(await lstat(path)).isDirectory()) return unlink(path);
  if (removal.top !== undefined && depth > MOST_DEPTH) {
    removal.moved += 1;
    return rename(path, at(removal.top, Buffer.from(randomUUID())));
  }
  const folder = await open(path, READ_FOLDER);
  try {
    removal.top ??= folder;
    if ((await folder.stat()).dev !== removal.device) {
      throw new DepotError('unavailable', `cannot remove ${String(name)}: it is another disk`);
    }
    let before: number;
    do {
      before = removal.moved;
      // Names need not be UTF-8.
      const entries = await readdir(`/proc/self/fd/${folder.fd}`, { encoding: 'buffer' });
      for (const entry of entries) {
        await removeEntry({ folder, depth: depth + 1 }, entry, removal).catch(ignoreMissing);
      }
    } while (depth === 0 && removal.moved > before);
  } finally {
    await folder.close();
  }
  return rmdir(path);
}

/** A name in a folder that is open, wherever that has been moved to since (proc(5)). */
function at({ fd }: FileHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
}

function ignoreMissing(error: unknown): void {
  if (systemCode(error) !== 'ENOENT') throw error;
}
