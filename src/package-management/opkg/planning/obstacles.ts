import { sizeText } from '../../../format-bytes.ts';
import { failureProblem, type Failure } from '../../failure.ts';
import { listNames } from '../../names.ts';
import type { Problem } from '../../problem.ts';
import { type Candidate, isThere, STEPS_OF_A_GLANCE } from './known-packages.ts';
import type { Search, Unresolved } from './candidate.ts';

export function held({ record: { name, version } }: Candidate): Failure {
  return { code: 'held', package: name, reason: `${name} is held at ${version}` };
}

export function essential({ record: { name } }: Candidate): Failure {
  return { code: 'essential', package: name, reason: `the device does not work without ${name}` };
}

export function needed({ record: { name } }: Candidate, others: readonly string[]): Failure {
  const names = listed(others);
  const reason = others.length === 1 ? `${names} needs ${name}` : `${names} need ${name}`;
  return { code: 'needed_by', package: name, reason };
}

export function older(old: Candidate, { record: { name, version } }: Candidate): Failure {
  const reason = `${name} ${version} is needed, and ${old.record.version} is installed`;
  return { code: 'dependency_conflict', package: name, reason };
}

export function conflicting({ record }: Candidate, others: readonly Candidate[]): Failure {
  const { name } = record;
  const names = listed(others.map((other) => other.record.name));
  const reason = `${name} conflicts with ${names}`;
  return { code: 'dependency_conflict', package: name, reason };
}

export function noSpace(
  { record: { name } }: Candidate,
  { neededBytes, freeBytes }: { neededBytes: number; freeBytes: number },
): Failure {
  const reason = `${name} needs ${sizeText(neededBytes)}, ${sizeText(freeBytes)} are free for it`;
  return { code: 'no_space', package: name, reason };
}

/** opkg prefers it by a record of its own, and cannot fetch it. */
export function gone({ record: { name, version } }: Candidate): Failure {
  return { code: 'not_found', package: name, reason: `no feed offers ${name} ${version} any more` };
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

/** Why opkg knows no package to install for a name. */
export function unknownProblems(search: Search, name: string, purpose: string): Problem[] {
  const candidates = candidatesFor(search, name);
  const lacking = search.unresolved.filter(({ neededBy }) => candidates.includes(neededBy));
  if (lacking.length > 0) return missingProblems(search, lacking, purpose);
  const foreign = search.foreignArchitectures(name);
  if (candidates.length === 0 && foreign.length > 0) {
    const reason = `the feeds have ${name} only for ${listed(foreign)}`;
    return [failureProblem(purpose, { code: 'wrong_architecture', package: name, reason })];
  }
  const providers = [...new Set(candidates.map(({ record }) => record.name))];
  const reason =
    providers.length > 1
      ? `${name} is provided by ${listed(providers)}; choose one of them`
      : `no feed offers ${name}`;
  return [failureProblem(purpose, { code: 'not_found', package: name, reason })];
}

/** One problem for each dependency at the root of it, the first time that it was found missing. */
export function missingProblems(
  search: Search,
  missing: readonly Unresolved[],
  purpose: string,
): Problem[] {
  const problems = new Map<string, Problem>();
  for (const cause of rootCauses(search, missing)) {
    search.known.budget.spend(STEPS_OF_A_PROBLEM, cause.neededBy.record.feed);
    const problem = failureProblem(purpose, missingFailure(search, cause));
    if (!problems.has(problem.message)) problems.set(problem.message, problem);
  }
  return [...problems.values()];
}

/** A problem is a text that people are to read, and that an answer has room for. */
const STEPS_OF_A_PROBLEM = 200;

/** A package that lacks something is missing itself to those that need it. */
function rootCauses(search: Search, missing: readonly Unresolved[]): Unresolved[] {
  const { budget } = search.known;
  const seen = new Set<Unresolved>();
  const walk = (unresolved: Unresolved): Unresolved[] => {
    seen.add(unresolved);
    const { dependency, neededBy } = unresolved;
    budget.descend(neededBy.record.feed);
    const wanting = new Set(dependency.anyOf.flatMap(({ name }) => candidatesFor(search, name)));
    budget.spend(1 + search.unresolved.length * STEPS_OF_A_GLANCE, neededBy.record.feed);
    const deeper = search.unresolved.filter(
      (other) => wanting.has(other.neededBy) && !seen.has(other),
    );
    const causes = deeper.length === 0 ? [unresolved] : deeper.flatMap(walk);
    budget.ascend();
    return causes;
  };
  return missing.flatMap((unresolved) => (seen.has(unresolved) ? [] : walk(unresolved)));
}

function candidatesFor({ known }: Search, name: string): Candidate[] {
  const found = (known.find(name)?.providedBy ?? []).flatMap(({ packages }) => packages ?? []);
  known.budget.spend(1 + found.length * STEPS_OF_A_GLANCE);
  return found;
}

function missingFailure(search: Search, { dependency, neededBy }: Unresolved): Failure {
  const { name: user } = neededBy.record;
  const [wanted] = dependency.anyOf;
  const candidates = dependency.anyOf.flatMap(({ name }) => candidatesFor(search, name));
  const versions = [...new Set(candidates.map(({ record }) => record.version))];
  if (wanted?.name === 'kernel' && user.startsWith('kmod-')) {
    const running = candidates.find(isThere)?.record.version ?? listed(versions);
    const reason =
      running === ''
        ? `${user} is built for ${dependency.text}, the kernel here is not known`
        : `${user} is built for ${dependency.text}, the device has kernel ${running}`;
    return { code: 'kernel_mismatch', package: user, reason };
  }
  const { text } = dependency;
  const foreign = dependency.anyOf.find(({ name }) => search.foreignArchitectures(name).length > 0);
  if (versions.length === 0 && foreign !== undefined) {
    const architectures = listed(search.foreignArchitectures(foreign.name));
    const reason = `${user} needs ${text}, which the feeds have only for ${architectures}`;
    return { code: 'wrong_architecture', package: foreign.name, reason };
  }
  const reason =
    versions.length > 0
      ? `${user} needs ${text}, and there is only ${listed(versions)}`
      : `${user} needs ${text}, which no feed offers`;
  return { code: 'dependency_missing', package: user, reason };
}
