import { systemCode } from '../errors.ts';

/** Whether a write failed because the disk, or this user's share of it, is full (errno(3)). */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(systemCode(error) ?? '');
}
