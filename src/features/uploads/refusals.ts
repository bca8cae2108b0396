import { DepotError, type ErrorCode, type Explanation } from '../../errors.ts';
import { sizeText } from '../../format-bytes.ts';
import { explained } from '../../package-management/failure.ts';

/**
 * Why a file is refused when it is sent, with the codes that its job would have failed with.
 * @param packages the endings of packages
 */
export function wrongEnding(packages: readonly string[]): DepotError {
  const endings = packages.map((kind) => `.${kind}`).join(', ');
  return refused('bad_request', `the name of the file must end in ${endings} or .run`, {
    code: 'not_allowed',
    remedy: `Send a file whose name ends in ${endings} or .run.`,
  });
}

export function tooLarge(limitBytes: number): DepotError {
  return refused('too_large', `it has more than ${sizeText(limitBytes)}`, {
    code: 'not_allowed',
    remedy: 'Send a smaller file, or have main.upload_max_mb raised.',
  });
}

export function moreThanFree(sizeBytes: number, freeBytes: number): DepotError {
  const why = `it has ${sizeText(sizeBytes)}, and ${sizeText(freeBytes)} are free`;
  return refused('no_space', why, explained('no_space'));
}

export function diskFull(cause: unknown): DepotError {
  return refused('no_space', 'the disk is full', { ...explained('no_space'), cause });
}

/** What is wrong with the form around the file, as who reads it says. */
export function badForm({ code, message }: DepotError): DepotError {
  const remedy = 'Send the file again, whole, in a form of the type multipart/form-data.';
  return new DepotError(code, message, { explanation: { code: 'not_allowed', remedy } });
}

export function damagedFile(why: string): DepotError {
  return refused('bad_request', why, explained('damaged_package'));
}

function refused(
  code: ErrorCode,
  why: string,
  { cause, ...explanation }: Explanation & { cause?: unknown },
): DepotError {
  return new DepotError(code, `cannot take the upload: ${why}`, { cause, explanation });
}
