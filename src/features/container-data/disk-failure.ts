import { sizeText } from '../../format-bytes.ts';
import { DepotError, type ErrorCode, type Explanation } from '../../errors.ts';
import { EXPLANATIONS } from '../../jobs/explanation.ts';
import { lastWords, plainLines, quoted } from '../../package-management/failure.ts';
import type { Location } from './locations.ts';

/** What a program that could not do its work says of the disk, of which it works on `path`. */
export interface DiskFailure {
  code: ErrorCode;
  /** The cause as a clause; the program's own line is quoted. */
  reason: string;
  explanation: Explanation;
}

/** The program's own line that says most, classified by the errno in it (strerror(3)). */
export function failureIn(output: string): DiskFailure | undefined {
  const lines = plainLines(output).filter((line) => !SUMMARY.test(line));
  for (const { pattern, prefix, code, explanation } of CAUSES) {
    const line = lines.findLast((text) => pattern.test(text));
    if (line !== undefined) return { code, reason: `${prefix}${quoted(line)}`, explanation };
  }
  const own = lines.findLast((line) => RSYNC.test(line) && !CONSEQUENCE.test(line));
  const words = own === undefined ? lastWords(lines) : quoted(own);
  return words === undefined
    ? undefined
    : { code: 'command_failed', reason: words, explanation: UNKNOWN };
}

/** `rsync: [receiver] write failed on "/mnt/x": No space left on device (28)` */
const RSYNC = /^(?:rsync: |file has vanished: )/;
/** Messages that only follow from the end of rsync's other process, which has said why. */
const CONSEQUENCE = /Broken pipe|connection unexpectedly closed/;
/** What rsync says at its end only repeats its exit code; the rest is progress. */
const SUMMARY = /^(?:rsync (?:error|warning): |copied \d+ %|and \d+ messages more)/;

const NO_SPACE: Explanation = {
  code: 'no_space',
  remedy: 'Free space on the disk of the target, or use a larger one, then try again.',
};
const CAUSES: readonly (Omit<DiskFailure, 'reason'> & { pattern: RegExp; prefix: string })[] = [
  {
    pattern: /No space left on device|Disk quota exceeded/i,
    prefix: '',
    code: 'no_space',
    explanation: NO_SPACE,
  },
  {
    pattern: /Read-only file system/i,
    prefix: 'a file system is read-only: ',
    code: 'unavailable',
    explanation: EXPLANATIONS.readOnly,
  },
  {
    pattern: /Input\/output error|Structure needs cleaning|Bad message/i,
    prefix: 'a disk has an error: ',
    code: 'command_failed',
    explanation: {
      code: 'unknown',
      remedy: 'Check the file system of that disk (fsck), or use another disk, then try again.',
    },
  },
  {
    pattern: /File too large/i,
    prefix: 'the file system of the target cannot hold so large a file: ',
    code: 'command_failed',
    explanation: {
      code: 'not_allowed',
      remedy: 'Use a target on ext4, XFS or btrfs, then try again.',
    },
  },
];

const UNKNOWN: Explanation = {
  code: 'unknown',
  remedy: 'Mend what the message names, then start the task again.',
};

/** @param neededBytes what the data takes; 0 if it is not known */
export function targetFull(
  purpose: string,
  { path, freeBytes, freeInodes }: Pick<Location, 'path' | 'freeBytes' | 'freeInodes'>,
  neededBytes: number,
): DepotError {
  const free =
    freeInodes !== undefined && freeInodes < 16
      ? `${freeInodes} more files fit`
      : `${sizeText(freeBytes)} are free`;
  const reason = neededBytes > 0 ? `${free}, the data takes ${sizeText(neededBytes)}` : free;
  const message = `cannot ${purpose}: the file system of ${path} is full: ${reason}`;
  return new DepotError('no_space', message, { explanation: NO_SPACE });
}
