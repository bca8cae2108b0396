import { stripVTControlCharacters } from 'node:util';
import { isShortage } from '../device/shortage.ts';
import { DepotError, reasonOf, systemCode } from '../errors.ts';
import { sizeText } from '../format-bytes.ts';
import {
  ADVICE,
  createProblem,
  nameOnce,
  remedyOf,
  type Problem,
  type ProblemCode,
} from './problem.ts';

/** Why a change of packages failed, as far as it can be told. */
export interface Failure {
  code: ProblemCode;
  /** The package that it is about, if it is about one. */
  package?: string;
  /** The cause with names and figures, as a clause: `no feed offers demo`. */
  reason: string;
  /** What the owner can do, one sentence; by default that of the code. */
  remedy?: string;
}

/** What a command of the package manager left, to be explained. */
export interface FailedCommand {
  /** The end of what it printed, and what the packages' scripts printed in between. */
  output: string;
  /** The packages that are not as they should be. */
  names: readonly string[];
}

/** How much of a command's output is read for an explanation: what went wrong comes last. */
export const EXPLAINED_BYTES = 64 * 1024;

/** @param purpose `install demo`: what could not be done */
export function failureError(
  purpose: string,
  { code, package: name, reason, remedy = remedyOf(code, name) }: Failure,
): DepotError {
  const kind = code === 'no_space' ? 'no_space' : 'command_failed';
  const message = nameOnce(`cannot ${purpose}: ${reason}`);
  return new DepotError(kind, message, { explanation: { code, remedy } });
}

/** A failure of the package manager as a plan shows it. */
export function failureProblem(
  purpose: string,
  { code, package: name, reason, remedy = remedyOf(code, name) }: Failure,
): Problem {
  return { ...createProblem(code, `cannot ${purpose}: ${reason}`, name), remedy };
}

export function notInstalled(name: string): Failure {
  const reason = 'it is not installed';
  return { code: 'not_found', package: name, reason, remedy: ADVICE.notInstalled };
}

/** Longer lines are cut: a script may print without a line end. */
const MOST_LINE_CHARACTERS = 400;

/**
 * The lines that a program printed, as a person would read them: without the sequences of a
 * terminal, other control characters and the daemon's own lines.
 */
export function plainLines(output: string): string[] {
  return stripVTControlCharacters(output)
    .split(/\r?\n|\r/)
    .filter((line) => !line.startsWith('depotd: '))
    .map((line) => line.slice(0, MOST_LINE_CHARACTERS).replace(/\p{Cc}+/gu, ' '))
    .map((line) => line.trimEnd());
}

/** A pattern for whole lines of a text, in pieces that a page has room for. */
export function linePattern(...pieces: readonly string[]): RegExp {
  return new RegExp(`^${pieces.join('')}`, 'gm');
}

/** What a program says if something goes wrong, as a pattern for its complaints. */
export type Complaint = { expression: RegExp } & (PlainComplaint | JudgedComplaint);

/** A complaint that always means the same. Its group `name`, if there is one, is the package. */
interface PlainComplaint extends Pick<Failure, 'code' | 'remedy'> {
  reason: (...groups: readonly string[]) => string;
}

interface JudgedComplaint {
  /** @returns undefined if it says nothing of this failure */
  failure: (groups: readonly string[], context: ComplaintContext) => Failure | undefined;
}

interface ComplaintContext {
  lines: readonly string[];
  names: readonly string[];
}

/** The first complaint of the table that matches; of its matches that of a package in question. */
export function firstMatch(
  text: string,
  complaints: readonly Complaint[],
  context: ComplaintContext,
): Failure | undefined {
  for (const complaint of complaints) {
    const matches = Array.from(text.matchAll(complaint.expression));
    const found = matches.flatMap((match) => failureOf(complaint, match, context) ?? []);
    const own = found.find((failure) => context.names.includes(failure.package ?? ''));
    if (found[0] !== undefined) return own ?? found[0];
  }
  return undefined;
}

function failureOf(
  complaint: Complaint,
  match: RegExpExecArray,
  context: ComplaintContext,
): Failure | undefined {
  const groups = match.slice(1).map((group: string | undefined) => group ?? '');
  if ('failure' in complaint) return complaint.failure(groups, context);
  const { code, reason, remedy } = complaint;
  const failure: Failure = { code, reason: reason(...groups), ...(remedy && { remedy }) };
  return match.groups?.name === undefined ? failure : { ...failure, package: match.groups.name };
}

/** The last line that says anything, quoted. */
export function lastWords(lines: readonly string[]): string | undefined {
  const line = lines.findLast((text) => /[\p{L}\p{N}]/u.test(text));
  return line === undefined ? undefined : quoted(line);
}

const MOST_QUOTED_CHARACTERS = 200;

export function quoted(text: string): string {
  const line = text.trim();
  if (line.length <= MOST_QUOTED_CHARACTERS) return `"${line}"`;
  return `"${line.slice(0, MOST_QUOTED_CHARACTERS)}…"`;
}

/** What the exit codes of wget(1) say; uclient-fetch has the same. */
const WGET: Readonly<Record<string, string>> = {
  3: 'it could not be written',
  4: 'the server cannot be reached, or breaks off',
  5: 'the certificate of the server is not trusted',
  6: 'the server wants a log-in',
  8: 'the server does not have it, or answers with an error',
};

export function downloadFault(exitCode: string | undefined): string {
  return WGET[exitCode ?? ''] ?? `the download ends with exit code ${exitCode ?? 'none'}`;
}

/** @param needed as the package manager writes it, with a version or without */
export function unmetDependency(name: string, needed: string): Failure {
  if (/^kernel(?![\w.+-])/.test(needed)) {
    const reason = `${name} is made for another kernel: it needs ${needed}`;
    return { code: 'kernel_mismatch', package: name, reason };
  }
  const reason = `${name} needs ${needed}, which no feed offers`;
  return { code: 'dependency_missing', package: name, reason };
}

/** What a package file is refused with when it is looked at, before any job is made of it. */
export function unusableFile(why: string, cause?: unknown): DepotError {
  const explanation = explained('damaged_package');
  const message = `cannot take the file as a package: ${why}`;
  return new DepotError('bad_request', message, { cause, explanation });
}

/** A package that unpacks to more than is free: what is small may unpack to a thousandfold. */
export function unpacksTooLarge(freeBytes: number): DepotError {
  const message =
    'cannot take the file as a package: it unpacks to more than the device has room for, ' +
    `${sizeText(freeBytes)} are free`;
  return new DepotError('no_space', message, { explanation: explained('no_space') });
}

const OF_ZLIB: Readonly<Record<string, string>> = {
  Z_DATA_ERROR: 'it is no package, or was changed',
  Z_BUF_ERROR: 'unexpected end of file',
};

/** Turns an error while a file is read into a refusal of the file, but for shortages. */
export function asUnusableFile(error: unknown): unknown {
  if (error instanceof DepotError || isShortage(error)) return error;
  return unusableFile(OF_ZLIB[systemCode(error) ?? ''] ?? reasonOf(error), error);
}

/** A code with its own remedy. */
export function explained(code: ProblemCode): { code: ProblemCode; remedy: string } {
  return { code, remedy: remedyOf(code) };
}

/** When a maintainer script runs, by the names that opkg and apk have for it. */
const RUNS: Readonly<Record<string, string>> = {
  preinst: 'before its installation',
  postinst: 'after its installation',
  prerm: 'before its removal',
  postrm: 'after its removal',
  'pre-install': 'before its installation',
  'post-install': 'after its installation',
  'pre-upgrade': 'before its upgrade',
  'post-upgrade': 'after its upgrade',
  'pre-deinstall': 'before its removal',
  'post-deinstall': 'after its removal',
};

/** A script of a package in its owner's words; the log has the program's. */
export function scriptOf(name: string, script: string): string {
  const when = RUNS[script];
  if (when === undefined) return `the ${script} script of ${name}`;
  return `the script of ${name} that runs ${when}`;
}

/**
 * @param ending as apk says how the script ended
 * @param said its last words, if it had any
 */
export function endOfScript(program: string, ending: string, said: string | undefined): string {
  const code = exitCodeIn(ending);
  const signal = /^killed by signal (\d+)$/.exec(ending)?.[1];
  const words = said === undefined ? undefined : quoted(said);
  if (signal !== undefined) {
    return words === undefined
      ? `${program} was killed by signal ${signal}`
      : `${program} was killed by signal ${signal}: ${words}`;
  }
  if (code === undefined) {
    const how = `${program} was ${ending}`;
    return words === undefined ? how : `${how}: ${words}`;
  }
  return words === undefined
    ? `${program} ended with exit code ${code}`
    : `${program} ended with exit code ${code}: ${words}`;
}

/** @param ending as apk says how the program ended that looks at its changes */
export function refusedBy(program: string, ending: string): string {
  const code = exitCodeIn(ending);
  return code === undefined
    ? `the program ${program} refuses it: it was ${ending}`
    : `the program ${program} refuses it: it exited with error ${code}`;
}

function exitCodeIn(ending: string): string | undefined {
  return /^exited with error (\d+)$/.exec(ending)?.[1];
}
