import { dirname } from 'node:path';

/** Failures that a caller may branch on. The code is the contract; the message is for people. */
export const ERROR_STATUS = {
  bad_request: 400,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  too_slow: 408,
  conflict: 409,
  too_large: 413,
  wrong_content_type: 415,
  foreign_host: 421,
  too_many_attempts: 429,
  header_too_large: 431,
  internal: 500,
  command_failed: 500,
  upstream_unreachable: 502,
  unavailable: 503,
  upstream_timeout: 504,
  no_space: 507,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** What a caller may branch on beyond the status, and what the owner of the device can do. */
export interface Explanation {
  /** A code of docs/http-api.md, such as `no_space`: what failed jobs have as `error_code`. */
  code: string;
  /** One sentence. */
  remedy: string;
}

/**
 * The one exception that crosses a border between rooms; its message is lower case and starts with
 * "cannot". Its explanation goes on record with the end of a job, and into a refusal.
 */
export class DepotError extends Error {
  readonly code: ErrorCode;
  readonly status: (typeof ERROR_STATUS)[ErrorCode];
  readonly explanation?: Explanation;

  constructor(
    code: ErrorCode,
    message: string,
    { explanation, ...options }: { cause?: unknown; explanation?: Explanation } = {},
  ) {
    super(message, options);
    this.name = 'DepotError';
    this.code = code;
    this.status = ERROR_STATUS[code];
    if (explanation !== undefined) this.explanation = explanation;
  }
}

/** The code of a failed system call, such as `ENOENT`; undefined for any other error. */
export function systemCode(thrown: unknown): string | undefined {
  const error = firstOf(thrown);
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/** `await using` throws both, if what failed leaves behind what cannot be closed, either. */
function firstOf(error: unknown): unknown {
  return error instanceof Error && 'suppressed' in error ? error.suppressed : error;
}

/** As of `fs`; of a call with two paths `dest` is the second. */
type SystemError = NodeJS.ErrnoException & { dest?: string };
/** Calls that change, or ask about, what is at the path: it may be the root of a disk. */
const IN_PLACE = ['access', 'chmod', 'chown', 'utime'];

/** What an unknown thrown value says, in one line. */
export function reasonOf(thrown: unknown): string {
  const error = firstOf(thrown);
  const { path, dest, syscall = '' } = (systemCode(error) === 'EROFS' ? error : {}) as SystemError;
  if (path !== undefined) {
    // A copy or a link cannot be made where it is to be, whatever it is made of.
    const place = IN_PLACE.includes(syscall) ? path : dirname(dest ?? path);
    return `${place} is on a file system that is read-only`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** For what goes on though it failed: the reason goes to the log. */
export function failureTo(
  log: { error: (fields: object, event: string) => void },
  event: string,
  fields: object = {},
): (error: unknown) => void {
  return (error) => log.error({ ...fields, reason: reasonOf(error) }, event);
}

/** @returns whether the work succeeds, once it is over: for what goes on either way */
export function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** What a call returns, or `other` if it throws: for what goes on either way. */
export function orElse<Value, Other>(call: () => Value, other: Other): Value | Other {
  try {
    return call();
  } catch {
    return other;
  }
}

/** For a `catch`: what is not there has this; other errors stay. */
export function ifThere<Value>(value: Value): (error: unknown) => Value {
  return (error) => {
    if (systemCode(error) === 'ENOENT') return value;
    throw error;
  };
}

/** Whether a system call failed so: the error itself, or what caused it at whatever depth. */
export function isCausedBy(error: unknown, codes: readonly string[]): boolean {
  for (let cause = firstOf(error); cause instanceof Error; cause = firstOf(cause.cause)) {
    if (codes.includes(systemCode(cause) ?? '')) return true;
  }
  return false;
}
