import { sizeText } from '../../../format-bytes.ts';
import { ADVICE, createProblem, type Problem } from '../../problem.ts';
import type { Candidate } from './catalogue.ts';
import { listed } from './explanation.ts';

/** What stands against one package of a change, as people read it. */
interface Purpose {
  /** At the head of a message: `install demo`. */
  purpose: string;
}

export function neededProblem(
  { purpose }: Purpose,
  { record }: Candidate,
  others: string[],
): Problem {
  const { name } = record;
  const why =
    others.length === 1 ? `${listed(others)} needs ${name}` : `${listed(others)} need ${name}`;
  return createProblem('needed_by', `cannot ${purpose}: ${why}`, name);
}

export function olderProblem({ purpose }: Purpose, old: Candidate, { record }: Candidate): Problem {
  return createProblem(
    'dependency_conflict',
    `cannot ${purpose}: ${record.name} ${record.version} is needed, and ${old.record.version} ` +
      'is installed',
    record.name,
  );
}

/** Of a file that is sent; a list offers no older version than another one. */
export function olderFileProblem(name: string, installed: string): Problem {
  const message =
    `cannot install ${name}: ${installed} is installed, and opkg puts no older version in its ` +
    'place';
  return { ...createProblem('not_allowed', message, name), remedy: ADVICE.removeNewer };
}

export function conflictProblem(
  { purpose }: Purpose,
  { record }: Candidate,
  others: Candidate[],
): Problem {
  const names = others.map((other) => other.record.name);
  return createProblem(
    'dependency_conflict',
    `cannot ${purpose}: ${record.name} conflicts with ${listed(names)}`,
    record.name,
  );
}

export function noSpace(
  { purpose }: Purpose,
  { record }: Candidate,
  { neededBytes, freeBytes }: { neededBytes: number; freeBytes: number },
): Problem {
  return createProblem(
    'no_space',
    `cannot ${purpose}: ${record.name} needs ${sizeText(neededBytes)}, ${sizeText(freeBytes)} ` +
      'are free for it',
    record.name,
  );
}

/** opkg prefers it by a record of its own, and cannot fetch it. */
export function goneProblem({ purpose }: Purpose, { record }: Candidate): Problem {
  return createProblem(
    'not_found',
    `cannot ${purpose}: no feed offers ${record.name} ${record.version} any more`,
    record.name,
  );
}
