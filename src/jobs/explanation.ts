import { isDiskFull, isReadOnlyDisk } from '../device/disk/disk-full.ts';
import { DepotError, reasonOf, type ErrorCode, type Explanation } from '../errors.ts';
import { Stopped } from './run.ts';

/** The ends that jobs of every kind may have; features bring further codes with their errors. */
export const EXPLANATIONS = {
  stopped: { code: 'stopped', remedy: 'Start the task again if you still want it.' },
  interrupted: {
    code: 'interrupted',
    remedy: 'Check that the device has a steady power supply, then start the task again.',
  },
  unknown: { code: 'unknown', remedy: 'Read the end of the task log.' },
  queueFull: {
    code: 'queue_full',
    remedy: 'Wait until tasks have ended, or stop some of those that wait.',
  },
  readOnly: {
    code: 'not_allowed',
    remedy:
      'Look for what made the file system read-only (often an error of the disk), mount it ' +
      'writable, then try again.',
  },
  noSpace: { code: 'no_space', remedy: 'Free space on the device, then try again.' },
} as const satisfies Record<string, Explanation>;

const NOT_ALLOWED: Explanation = {
  code: 'not_allowed',
  remedy: 'Change what the message names, then start the task again.',
};
const DOWNLOAD_FAILED: Explanation = {
  code: 'download_failed',
  remedy: 'Check the internet connection, then try again.',
};

/** Explanations for an error that brings none of its own, by its code. */
const BY_CODE: Partial<Record<ErrorCode, Explanation>> = {
  no_space: EXPLANATIONS.noSpace,
  not_found: { code: 'not_found', remedy: 'Check that what the task is about is still there.' },
  bad_request: NOT_ALLOWED,
  conflict: NOT_ALLOWED,
  forbidden: { code: 'not_allowed', remedy: 'Ask somebody who may do it.' },
  upstream_unreachable: DOWNLOAD_FAILED,
  upstream_timeout: DOWNLOAD_FAILED,
};

/** What a job's record keeps of an error. */
export function failureFacts(error: unknown) {
  return facts(reasonOf(error), explanationOf(error));
}

export function facts(error: string, { code, remedy }: Explanation) {
  return { error: sentence(error), errorCode: code, remedy: sentence(remedy) };
}

function explanationOf(error: unknown): Explanation {
  if (error instanceof Stopped) return EXPLANATIONS.stopped;
  const own = error instanceof DepotError ? (error.explanation ?? BY_CODE[error.code]) : undefined;
  if (own !== undefined) return own;
  if (isReadOnlyDisk(error)) return EXPLANATIONS.readOnly;
  return isDiskFull(error) ? EXPLANATIONS.noSpace : EXPLANATIONS.unknown;
}

/** Longest error or remedy on record, so that a job's end finds room in its reserve. */
const MOST_CHARACTERS = 1000;

/** One line that may be shown anywhere, whatever a program has put into it. */
export function sentence(text: string): string {
  const line = text.replace(/\p{Cc}+/gu, ' ').trim();
  if (line.length <= MOST_CHARACTERS) return line;
  // The cut lies between characters: UTF-16 has some as two, of which one alone is none.
  return `${line.slice(0, MOST_CHARACTERS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
