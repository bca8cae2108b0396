import { sizeText } from '../../../format-bytes.ts';
import type { Failure } from '../../failure.ts';
import { listNames } from '../../names.ts';
import { createProblem, type Problem } from '../../problem.ts';
import type { Candidate } from './catalogue.ts';

/** @param purpose at the head of the message: `install demo` */
export function problemOf(purpose: string, { code, package: name, reason }: Failure): Problem {
  return createProblem(code, `cannot ${purpose}: ${reason}`, name);
}

export function held({ record: { name, version } }: Candidate): Failure {
  return { code: 'held', package: name, reason: `${name} is held at ${version}` };
}

export function essential({ record: { name } }: Candidate): Failure {
  return { code: 'essential', package: name, reason: `the device does not work without ${name}` };
}

export function needed({ record: { name } }: Candidate, others: readonly string[]): Failure {
  return {
    code: 'needed_by',
    package: name,
    reason:
      others.length === 1 ? `${listed(others)} needs ${name}` : `${listed(others)} need ${name}`,
  };
}

export function older(old: Candidate, { record: { name, version } }: Candidate): Failure {
  return {
    code: 'dependency_conflict',
    package: name,
    reason: `${name} ${version} is needed, and ${old.record.version} is installed`,
  };
}

export function conflicting(
  { record: { name } }: Candidate,
  others: readonly Candidate[],
): Failure {
  const names = listed(others.map(({ record }) => record.name));
  const reason = `${name} conflicts with ${names}`;
  return { code: 'dependency_conflict', package: name, reason };
}

export function noSpace(
  { record: { name } }: Candidate,
  { neededBytes, freeBytes }: { neededBytes: number; freeBytes: number },
): Failure {
  const [wanted, free] = [sizeText(neededBytes), sizeText(freeBytes)];
  return {
    code: 'no_space',
    package: name,
    reason: `${name} needs ${wanted}, ${free} are free for it`,
  };
}

/** opkg prefers it by a record of its own, and cannot fetch it. */
export function gone({ record: { name, version } }: Candidate): Failure {
  return {
    code: 'not_found',
    package: name,
    reason: `no feed offers ${name} ${version} any more`,
  };
}

/** opkg removes the old version first, and then finds it missing where it was to be upgraded. */
export function replacesItself({ record: { name } }: Candidate): Failure {
  const reason = `${name} replaces and excludes itself, which opkg cannot upgrade`;
  return { code: 'dependency_conflict', package: name, reason };
}

/** The old version met a need of its own by a name that it provided: nobody else needs it. */
export function orphansItself({ record: { name } }: Candidate): Failure {
  const reason = `opkg removes ${name} as needed by nobody while it upgrades it`;
  return { code: 'unknown', package: name, reason };
}

const MOST_LISTED = 10;

/** `a, b, c`, each once, and how many more there are. */
export function listed(names: readonly string[]): string {
  return listNames([...new Set(names)], MOST_LISTED);
}
