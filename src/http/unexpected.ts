import { DepotError, isCausedBy, type ErrorCode } from '../errors.ts';

/** What a device may lack for a while, by what system calls fail with then (errno(3)). */
const LACKS: readonly { codes: readonly string[]; code: ErrorCode; reason: string }[] = [
  { codes: ['ENOSPC', 'EDQUOT'], code: 'no_space', reason: 'the disk is full' },
  { codes: ['EROFS'], code: 'unavailable', reason: 'the disk is mounted read-only' },
  {
    codes: ['EMFILE', 'ENFILE'],
    code: 'unavailable',
    reason: 'there are no file descriptors left',
  },
  { codes: ['ENOMEM'], code: 'unavailable', reason: 'there is no memory left' },
];

/** An error that nobody expected, without its text: what the device lacks, or a fault. */
export function fromUnexpected(error: unknown): DepotError {
  const lack = LACKS.find(({ codes }) => isCausedBy(error, codes));
  return lack === undefined
    ? new DepotError('internal', 'cannot answer: an unexpected fault; the daemon log has it')
    : new DepotError(lack.code, `cannot answer: ${lack.reason}`);
}
