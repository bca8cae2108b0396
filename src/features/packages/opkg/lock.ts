import { lstat, open, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { followTrusted } from '../../../device/private-folder.ts';
import { DepotError, reasonOf, systemCode } from '../../../errors.ts';

/**
 * Who holds a POSIX lock on a file. Node cannot ask fcntl(2), so the kernel's own table is read:
 * /proc/locks (proc(5)) names device and inode of each lock and the process that holds it.
 * @returns the process id (0 where it lives outside of what this process can see), or undefined
 *   where the file is not locked
 */
export async function readLockHolder(file: string): Promise<number | undefined> {
  let inode: string;
  try {
    inode = await inodeOf(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const table = await readFile('/proc/locks', 'latin1').catch(() => '');
  const line = table.split('\n').find((candidate) => isHeldLock(candidate, inode));
  return line === undefined ? undefined : Math.max(0, Number(line.trim().split(/\s+/)[4]) || 0);
}

/**
 * Makes the lock file before opkg does. opkg opens it with creat(2), which empties whatever a link
 * of that name leads to, and on OpenWrt it lies in a folder for everybody. A file of another user
 * locks nothing out: opkg runs as root.
 * @throws DepotError unavailable if it cannot be had
 */
export async function ownLockFile(path: string): Promise<void> {
  const file = join(await followTrusted(dirname(path), 0o755), basename(path));
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const entry = await lstat(file).catch(() => undefined);
    if (entry?.isFile() === true && entry.uid === process.getuid?.()) return;
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

/** `2: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF`; waiting locks carry `->`. */
function isHeldLock(line: string, inode: string): boolean {
  const fields = line.trim().split(/\s+/);
  return fields[1] === 'POSIX' && fields[3] === 'WRITE' && fields[5] === inode;
}

/**
 * Device and inode as /proc/locks writes them: MAJOR:MINOR in two hexadecimal digits each, INODE in
 * decimal.
 */
async function inodeOf(file: string): Promise<string> {
  const { dev, ino } = await stat(file, { bigint: true });
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  const hex = (value: bigint): string => value.toString(16).padStart(2, '0');
  return `${hex(major)}:${hex(minor)}:${ino}`;
}
