import { isCausedBy } from '../../errors.ts';

/** Whether a write failed because the disk, or this user's share of it, is full (errno(3)). */
export function isDiskFull(error: unknown): boolean {
  return isCausedBy(error, ['ENOSPC', 'EDQUOT']);
}

/** Whether the file system is read-only, as the kernel mounts it after an error of the disk. */
export function isReadOnlyDisk(error: unknown): boolean {
  return isCausedBy(error, ['EROFS']);
}
