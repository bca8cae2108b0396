import { lstat, open, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { lockHolderOf } from '../../../device/lock-holder.ts';
import { followTrusted } from '../../../device/private-folder.ts';
import { DepotError, reasonOf } from '../../../errors.ts';

/** Who holds opkg's lock, a POSIX one: a process id, or undefined. */
export function readLockHolder(file: string): Promise<number | undefined> {
  return lockHolderOf(file, 'POSIX');
}

/**
 * Makes the lock file before opkg does. opkg opens it with creat(2), which empties whatever a link
 * of that name leads to, and whatever file of root's a hard link of that name is; on OpenWrt it
 * lies in a folder for everybody. A file of another user locks nothing out: opkg runs as root.
 * @throws DepotError unavailable if it cannot be had
 */
export async function ownLockFile(path: string): Promise<void> {
  const file = join(await followTrusted(dirname(path), 0o755), basename(path));
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const entry = await lstat(file).catch(() => undefined);
    if (entry?.isFile() === true && entry.uid === process.getuid?.() && entry.nlink === 1) return;
    try {
      await rm(file, { force: true });
      await (await open(file, 'wx', 0o640)).close();
      return;
    } catch (error) {
      if (attempt === MOST_ATTEMPTS) throw cannotOwn(path, error);
    }
  }
}

/** Somebody may put theirs in its place again, in between. */
const MOST_ATTEMPTS = 5;

function cannotOwn(path: string, cause: unknown): DepotError {
  return new DepotError(
    'unavailable',
    `cannot run opkg: its lock file ${path} is not root's: ${reasonOf(cause)}`,
    { cause },
  );
}
