import { compareVersions, stepsOfComparison } from '../compare-versions.ts';
import {
  isThere,
  STEPS_OF_A_GLANCE,
  type Candidate,
  type KnownPackages,
  type Name,
} from './known-packages.ts';
import { isSatisfiedBy, type Dependency } from './relations.ts';

/** One run of opkg, as far as it can be known beforehand. */
export interface Search {
  known: KnownPackages;
  /** The names on the command line: they come before others that would do, too. */
  asked: ReadonlySet<string>;
  /** Dependencies that nothing satisfies, in the order in which they were found missing. */
  unresolved: Unresolved[];
  /** Architectures that the feeds have a name for, and that do not fit here; for messages. */
  foreignArchitectures: (name: string) => string[];
}

export interface Unresolved {
  dependency: Dependency;
  /** The package that has it. */
  neededBy: Candidate;
}

/** The version that opkg would install for a name on the command line. */
export function bestByName(search: Search, name: string): Candidate | undefined {
  const entry = search.known.find(name);
  if (entry === undefined) return undefined;
  const accepts = ({ record }: Candidate): boolean => record.name === name;
  return bestCandidate(search, { entry, accepts, isQuiet: false });
}

interface Wanted {
  entry: Name;
  accepts: (candidate: Candidate) => boolean;
  /** Whether opkg leaves it at that if no candidate is accepted, and several are there. */
  isQuiet: boolean;
}

/**
 * The last of the best that is accepted; else what is held, else what is installed, else the
 * only one there.
 */
function bestCandidate(search: Search, wanted: Wanted): Candidate | undefined {
  const matching = matchingCandidates(search, wanted.entry);
  const score = ({ record: { name } }: Candidate): number =>
    Number(name === wanted.entry.name) + Number(search.asked.has(name));
  return (
    lastOfHighest(matching.filter(wanted.accepts), score) ??
    matching.findLast(({ isHeld, isPreferred }) => isHeld || isPreferred) ??
    matching.findLast(({ parent }) => isThere(parent)) ??
    (matching.length === 1 ? matching[0] : undefined) ??
    (wanted.isQuiet ? undefined : lastOfHighest(matching.toReversed(), search.known.priority))
  );
}

function lastOfHighest(
  candidates: readonly Candidate[],
  score: (candidate: Candidate) => number,
): Candidate | undefined {
  let best: Candidate | undefined;
  let highest = 0;
  for (const candidate of candidates) {
    const its = score(candidate);
    if (its < highest) continue;
    best = candidate;
    highest = its;
  }
  return best;
}

/** Whatever stands for the name, lacks nothing and fits the device; the oldest first. */
function matchingCandidates(search: Search, { providedBy }: Name): Candidate[] {
  const { budget } = search.known;
  const matching = new Set<Candidate>();
  for (const provider of effectiveProviders(providedBy)) {
    for (const candidate of provider.packages ?? []) {
      budget.spend(stepsOfComparison(candidate.record.version), candidate.record.feed);
      if (search.known.priority(candidate) <= 0 || matching.has(candidate)) continue;
      if (!lacksSomething(search, candidate)) matching.add(candidate);
    }
  }
  return [...matching].sort(
    (a, b) =>
      compareTexts(a.record.name, b.record.name) ||
      compareVersions(a.record.version, b.record.version) ||
      search.known.priority(a) - search.known.priority(b),
  );
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** A package that replaces a provider comes in its place. */
function effectiveProviders(providers: readonly Name[]): Name[] {
  const all = new Set(providers);
  return providers.flatMap((provider) => {
    const [replacement] = provider.replacedBy;
    if (replacement === undefined || replacement === provider) return [provider];
    return all.has(replacement) ? [] : [replacement];
  });
}

function lacksSomething(search: Search, candidate: Candidate): boolean {
  const missing = findMissing(search, { candidate, mark: 'isSearched', found: [] });
  for (const unresolved of missing) search.unresolved.push(unresolved);
  return missing.length > 0;
}

interface MissingQuery {
  candidate: Candidate;
  /** opkg looks at a name once in each of the two: asked again, it finds nothing missing. */
  mark: 'isSearched' | 'isResolved';
  /** Packages that have to be installed first, in that order; added to. */
  found: Candidate[];
}

/** @returns the dependencies that nothing satisfies */
export function findMissing(search: Search, query: MissingQuery): Unresolved[] {
  const { candidate, mark, found } = query;
  if (candidate.parent[mark]) return [];
  candidate.parent[mark] = true;
  const { budget } = search.known;
  const { feed } = candidate.record;
  budget.descend(feed);
  const missing: Unresolved[] = [];
  for (const dependency of candidate.dependencies) {
    budget.spend(1 + found.length * STEPS_OF_A_GLANCE, feed);
    if (firstSatisfier(search, dependency, isThere) !== undefined) continue;
    const satisfier = firstSatisfier(search, dependency, (other) => !isDeclined(dependency, other));
    if (satisfier === undefined) {
      if (dependency.kind === 'depends') missing.push({ dependency, neededBy: candidate });
    } else if (
      dependency.kind !== 'suggests' &&
      satisfier !== candidate &&
      !found.some((other) => isEqual(other, satisfier))
    ) {
      const further = findMissing(search, { ...query, candidate: satisfier });
      for (const unresolved of further) missing.push(unresolved);
      found.push(satisfier);
    }
  }
  budget.ascend();
  budget.spend(missing.length * STEPS_OF_A_GLANCE, feed);
  return missing;
}

/** What is only recommended does not come back against the owner's will. */
function isDeclined({ kind }: Dependency, { want }: Candidate): boolean {
  return kind !== 'depends' && (want === 'deinstall' || want === 'purge');
}

function firstSatisfier(
  search: Search,
  { anyOf }: Dependency,
  condition: (candidate: Candidate) => boolean,
): Candidate | undefined {
  for (const relation of anyOf) {
    search.known.budget.spend(1);
    const accepts = (candidate: Candidate): boolean =>
      condition(candidate) && isSatisfiedBy(relation, candidate.record.version);
    const entry = search.known.name(relation.name);
    const best = bestCandidate(search, { entry, accepts, isQuiet: true });
    if (best !== undefined && accepts(best)) return best;
  }
  return undefined;
}

function isEqual(a: Candidate, b: Candidate): boolean {
  const [one, other] = [a.record, b.record];
  if (one.name !== other.name || one.architecture !== other.architecture) return false;
  return compareVersions(one.version, other.version) === 0;
}
