import { constants } from 'node:fs';
import { lstat, open, readdir, rmdir, unlink, type FileHandle } from 'node:fs/promises';
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
    await removeEntry(folder, Buffer.from(last), (await folder.stat()).dev);
  } catch (error) {
    ignoreMissing(error);
  } finally {
    await folder.close();
  }
}

async function removeEntry(parent: FileHandle, name: Buffer, device: number): Promise<void> {
  const path = at(parent, name);
  if (!(await lstat(path)).isDirectory()) return unlink(path);
  const folder = await open(path, READ_FOLDER);
  try {
    if ((await folder.stat()).dev !== device) {
      throw new DepotError('unavailable', `cannot remove ${String(name)}: it is another disk`);
    }
    // Names need not be UTF-8.
    const entries = await readdir(`/proc/self/fd/${folder.fd}`, { encoding: 'buffer' });
    for (const entry of entries) await removeEntry(folder, entry, device).catch(ignoreMissing);
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
