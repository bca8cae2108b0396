import { createProblem, type Problem } from '../../problem.ts';
import type { Search, Unresolved } from './candidate.ts';
import { isThere, type Candidate } from './catalogue.ts';

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
    return [
      createProblem(
        'wrong_architecture',
        `cannot ${purpose}: the feeds have ${name} only for ${foreign.join(', ')}`,
        name,
      ),
    ];
  }
  const providers = [...new Set(candidates.map(({ record }) => record.name))];
  const why =
    providers.length > 1
      ? `${name} is provided by ${providers.join(', ')}; choose one of them`
      : `no feed offers ${name}`;
  return [createProblem('not_found', `cannot ${purpose}: ${why}`, name)];
}

/** One problem for each dependency at the root of it, the first time that it was found missing. */
export function missingProblems(
  search: Search,
  missing: readonly Unresolved[],
  purpose: string,
): Problem[] {
  const problems = new Map<string, Problem>();
  for (const cause of rootCauses(search, missing)) {
    const problem = missingProblem(search, cause, purpose);
    if (!problems.has(problem.message)) problems.set(problem.message, problem);
  }
  return [...problems.values()];
}

/** A package that lacks something is missing itself to those that need it. */
function rootCauses(search: Search, missing: readonly Unresolved[]): Unresolved[] {
  const seen = new Set<Unresolved>();
  const walk = (unresolved: Unresolved): Unresolved[] => {
    seen.add(unresolved);
    const candidates = unresolved.dependency.anyOf.flatMap(({ name }) =>
      candidatesFor(search, name),
    );
    const deeper = search.unresolved.filter(
      (other) => candidates.includes(other.neededBy) && !seen.has(other),
    );
    return deeper.length === 0 ? [unresolved] : deeper.flatMap(walk);
  };
  return missing.flatMap((unresolved) => (seen.has(unresolved) ? [] : walk(unresolved)));
}

function candidatesFor({ catalogue }: Search, name: string): Candidate[] {
  return (catalogue.find(name)?.providedBy ?? []).flatMap(({ packages }) => packages ?? []);
}

function missingProblem(
  search: Search,
  { dependency, neededBy }: Unresolved,
  purpose: string,
): Problem {
  const { name: user } = neededBy.record;
  const [wanted] = dependency.anyOf;
  const candidates = dependency.anyOf.flatMap(({ name }) => candidatesFor(search, name));
  const versions = [...new Set(candidates.map(({ record }) => record.version))];
  if (wanted?.name === 'kernel' && user.startsWith('kmod-')) {
    const running = candidates.find(isThere)?.record.version ?? versions.join(', ');
    return createProblem(
      'kernel_mismatch',
      `cannot ${purpose}: ${user} is built for ${dependency.text}, the device has ` +
        `kernel ${running === '' ? 'of no known version' : running}`,
      user,
    );
  }
  const needs = `cannot ${purpose}: ${user} needs ${dependency.text},`;
  const foreign = dependency.anyOf.find(({ name }) => search.foreignArchitectures(name).length > 0);
  if (versions.length === 0 && foreign !== undefined) {
    const architectures = [...new Set(search.foreignArchitectures(foreign.name))].join(', ');
    return createProblem(
      'wrong_architecture',
      `${needs} which the feeds have only for ${architectures}`,
      foreign.name,
    );
  }
  const why =
    versions.length > 0 ? `and there is only ${versions.join(', ')}` : 'which no feed offers';
  return createProblem('dependency_missing', `${needs} ${why}`, user);
}
