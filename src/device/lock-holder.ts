import { readFile, stat } from 'node:fs/promises';
import { ifThere } from '../errors.ts';

/** Locks by fcntl(2) or lockf(3), and locks by flock(2): the two do not see each other. */
export type LockKind = 'POSIX' | 'FLOCK';

/**
 * Node cannot ask who holds a lock, so the kernel's own table, /proc/locks (proc(5)), is read.
 * @returns the process id (0 if this process cannot see it); undefined if nobody holds a lock
 */
export async function lockHolderOf(file: string, kind: LockKind): Promise<number | undefined> {
  const inode = await inodeOf(file).catch(ifThere(undefined));
  if (inode === undefined) return undefined;
  const table = await readFile('/proc/locks', 'latin1').catch(() => '');
  const line = table.split('\n').find((candidate) => isHeldLock(candidate, kind, inode));
  return line === undefined ? undefined : Math.max(0, Number(line.trim().split(/\s+/)[4]) || 0);
}

/** `2: POSIX  ADVISORY  WRITE 1234 08:01:5678 0 EOF`; waiting locks carry `->`. */
function isHeldLock(line: string, kind: LockKind, inode: string): boolean {
  const fields = line.trim().split(/\s+/);
  return fields[1] === kind && fields[3] === 'WRITE' && fields[5] === inode;
}

/** As /proc/locks writes them: MAJOR:MINOR in two hexadecimal digits each, INODE in decimal. */
async function inodeOf(file: string): Promise<string> {
  const { dev, ino } = await stat(file, { bigint: true });
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  const hex = (value: bigint): string => value.toString(16).padStart(2, '0');
  return `${hex(major)}:${hex(minor)}:${ino}`;
}
