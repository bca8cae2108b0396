import type { Failure } from '../../failure.ts';
import type { Problem } from '../../problem.ts';
import type { Search, Unresolved } from './candidate.ts';
import { isThere, STEPS_OF_A_GLANCE, type Candidate } from './catalogue.ts';
import { listed, problemOf } from './obstacles.ts';

/** Why opkg knows no package to install for a name. */
export function unknownProblems(
  search: Search,
  { name, purpose }: { name: string; purpose: string },
): Problem[] {
  const candidates = candidatesFor(search, name);
  const lacking = search.unresolved.filter(({ neededBy }) => candidates.includes(neededBy));
  if (lacking.length > 0) return missingProblems(search, lacking, purpose);
  const foreign = search.foreignArchitectures(name);
  if (candidates.length === 0 && foreign.length > 0) {
    const reason = `the feeds have ${name} only for ${listed(foreign)}`;
    return [problemOf(purpose, { code: 'wrong_architecture', package: name, reason })];
  }
  const providers = [...new Set(candidates.map(({ record }) => record.name))];
  const reason =
    providers.length > 1
      ? `${name} is provided by ${listed(providers)}; choose one of them`
      : `no feed offers ${name}`;
  return [problemOf(purpose, { code: 'not_found', package: name, reason })];
}

/** One problem for each dependency at the root of it, the first time that it was found missing. */
export function missingProblems(
  search: Search,
  missing: readonly Unresolved[],
  purpose: string,
): Problem[] {
  const problems = new Map<string, Problem>();
  for (const cause of rootCauses(search, missing)) {
    search.catalogue.budget.spend(STEPS_OF_A_PROBLEM, cause.neededBy.record.feed);
    const problem = problemOf(purpose, missingFailure(search, cause));
    if (!problems.has(problem.message)) problems.set(problem.message, problem);
  }
  return [...problems.values()];
}

/** A problem is a text that people are to read, and that an answer has room for. */
const STEPS_OF_A_PROBLEM = 200;

/** A package that lacks something is missing itself to those that need it. */
function rootCauses(search: Search, missing: readonly Unresolved[]): Unresolved[] {
  const { budget } = search.catalogue;
  const seen = new Set<Unresolved>();
  const walk = (unresolved: Unresolved): Unresolved[] => {
    seen.add(unresolved);
    budget.descend(unresolved.neededBy.record.feed);
    const candidates = unresolved.dependency.anyOf.flatMap(({ name }) =>
      candidatesFor(search, name),
    );
    const wanting = new Set(candidates);
    budget.spend(1 + search.unresolved.length * STEPS_OF_A_GLANCE, unresolved.neededBy.record.feed);
    const deeper = search.unresolved.filter(
      (other) => wanting.has(other.neededBy) && !seen.has(other),
    );
    const causes = deeper.length === 0 ? [unresolved] : deeper.flatMap(walk);
    budget.ascend();
    return causes;
  };
  return missing.flatMap((unresolved) => (seen.has(unresolved) ? [] : walk(unresolved)));
}

function candidatesFor({ catalogue }: Search, name: string): Candidate[] {
  const found = (catalogue.find(name)?.providedBy ?? []).flatMap(({ packages }) => packages ?? []);
  catalogue.budget.spend(1 + found.length * STEPS_OF_A_GLANCE);
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
  const needed = dependency.text;
  const foreign = dependency.anyOf.find(({ name }) => search.foreignArchitectures(name).length > 0);
  if (versions.length === 0 && foreign !== undefined) {
    const architectures = listed(search.foreignArchitectures(foreign.name));
    const reason = `${user} needs ${needed}, which the feeds have only for ${architectures}`;
    return { code: 'wrong_architecture', package: foreign.name, reason };
  }
  const reason =
    versions.length > 0
      ? `${user} needs ${needed}, and there is only ${listed(versions)}`
      : `${user} needs ${needed}, which no feed offers`;
  return { code: 'dependency_missing', package: user, reason };
}
