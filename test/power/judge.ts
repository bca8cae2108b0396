import type { FeedVersion } from '../device/packages/packages.ts';
import type { Expected } from './kinds.ts';
import type { FilesFound } from './packages.ts';

export interface PackageFound {
  /** As the package manager's record has it. */
  version: FeedVersion | undefined;
  /** The files of that version; of the first one where none is on record. */
  files: FilesFound;
  /** Whether depotd says that it is. */
  isBroken: boolean;
}

/** What there is after a power cut, as the guest sees it. */
export interface Look {
  state: string | undefined;
  error?: string | undefined;
  packages: Record<string, PackageFound>;
  /** What the doctor says that is no "ok". */
  doctor: readonly { id: string; message: string }[];
  /** What the kind of job itself found not to hold. */
  problems: readonly string[];
}

/** One cut from the owner's side. */
export interface CutSeen {
  /** Whether the owner was told of a task before the power went. */
  isAccepted: boolean;
  /** What she was answered before that; nothing if the job had not ended. */
  answered: string | undefined;
  found: Look;
  /** When the job was done again. */
  again: Look;
}

/** The promises that did not hold, as sentences. */
export function judgeCut(
  { isAccepted, answered, found, again }: CutSeen,
  expected: Expected,
): string[] {
  return [
    ...found.problems,
    ...again.problems.map((problem) => `done again: ${problem}`),
    ...(isAccepted && found.state === undefined ? ['the job is lost'] : []),
    ...(answered === 'done' && found.state !== 'done'
      ? [`told done, is ${String(found.state)}`]
      : []),
    ...(found.state === 'done' ? problemsOfDone(found, expected) : []),
    ...liesOf(found),
    ...(isDoneAgain(again, expected)
      ? []
      : [`done again: ${String(again.state)} ${again.error ?? ''}`]),
    ...problemsOfDone(again, expected).map((problem) => `done again: ${problem}`),
  ];
}

/** What is removed cannot be removed once more. */
function isDoneAgain({ state, error = '' }: Look, expected: Expected): boolean {
  const versions = Object.values(expected);
  const isRemoval = versions.length > 0 && versions.every((version) => version === undefined);
  return state === 'done' || (isRemoval && error.includes('is not installed'));
}

function problemsOfDone(look: Look, expected: Expected): string[] {
  return Object.entries(expected).flatMap(([name, version]) => {
    const found = look.packages[name];
    if (found?.version !== version) {
      return [`done, and ${name} is of version ${String(found?.version)}`];
    }
    const { whole, damaged, missing } = found?.files ?? { whole: 0, damaged: [], missing: [] };
    if (version === undefined) {
      const left = whole + damaged.length;
      return left === 0 ? [] : [`done, and ${left} files of ${name} are left`];
    }
    const bad = damaged.length + missing.length;
    return bad === 0 ? [] : [`done, and ${bad} of ${bad + whole} files of ${name} are not whole`];
  });
}

/** A package on record with other files than its own is answered, and what is in no record is gone. */
function liesOf(look: Look): string[] {
  // It counts those that are gone, whosever they are, and looks into none.
  const areMissingReported = look.doctor.some(({ id }) => id === 'package-files');
  return Object.entries(look.packages).flatMap(([name, { version, files, isBroken }]) => {
    const bad = files.damaged.length + (areMissingReported ? 0 : files.missing.length);
    if (version === undefined) {
      const left = files.whole + files.damaged.length;
      return left === 0 ? [] : [`${left} files of ${name} are in no record`];
    }
    return bad === 0 || isBroken ? [] : [`${name}: ${bad} files are not whole, and nobody says so`];
  });
}
