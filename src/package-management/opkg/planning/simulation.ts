import { failureProblem, type Failure } from '../../failure.ts';
import type { PackageChange } from '../../manager.ts';
import { appOf } from '../../names.ts';
import type { Problem } from '../../problem.ts';
import { compareVersions } from '../compare-versions.ts';
import { bestByName, findMissing, type Search } from './candidate.ts';
import {
  isThere,
  STEPS_OF_A_GLANCE,
  type Candidate,
  type KnownPackages,
  type Name,
} from './known-packages.ts';
import {
  conflicting,
  essential,
  gone,
  held,
  missingProblems,
  needed,
  noSpace,
  older,
  orphansItself,
  replacesItself,
  unknownProblems,
} from './obstacles.ts';
import { isSatisfiedBy, namesIn } from './relations.ts';
import type { Space } from './space.ts';

/**
 * What opkg does for a command, step by step, on its own picture of the packages: it stops at the
 * first failure of a package, and goes on with the next one on the command line. What only the
 * package's file says is not known here: scripts that fail, and files that others own.
 */
export interface Simulation {
  known: KnownPackages;
  problems: Problem[];
  /** Names of packages that went, and why. */
  removals: Map<string, 'asked' | 'orphan' | 'replaced'>;
}

interface Run extends Simulation {
  search: Search;
  space: Space;
  /** What people asked for, at the head of a message: `install demo`. */
  purpose: string;
  /** Whether what needs a package that is to go is no obstacle. */
  isCircle: boolean;
}

export function simulate(
  search: Search,
  { verb, names, isCircle = false }: PackageChange,
  space: Space,
): Simulation {
  const { known } = search;
  const found: Simulation = { known, problems: [], removals: new Map() };
  const changeByName = { install: installByName, upgrade: upgradeByName, remove: removeByName };
  for (const name of names) {
    const purpose = `${verb} ${appOf(name).name}`;
    changeByName[verb]({ ...found, search, space, purpose, isCircle }, name);
  }
  return found;
}

/** A name that no package has stands for its first provider. */
function installedByName(known: KnownPackages, name: string): Candidate | undefined {
  const entry = known.find(name);
  return (entry?.packages ?? entry?.providedBy[0]?.packages)?.find(isThere);
}

function installByName(run: Run, name: string): void {
  const { known, search } = run;
  const old = installedByName(known, name);
  const best = bestByName(search, name);
  if (best === undefined) {
    run.problems.push(...unknownProblems(search, name, run.purpose));
    return;
  }
  if (old !== undefined) {
    if (compareVersions(old.record.version, best.record.version) >= 0) return;
    old.want = 'deinstall';
  }
  install(run, best);
}

function upgradeByName(run: Run, name: string): void {
  const old = installedByName(run.known, name);
  if (old === undefined) {
    installByName(run, name);
    return;
  }
  if (old.isHeld) {
    fail(run, held(old));
    return;
  }
  const best = bestByName(run.search, old.record.name);
  if (best === undefined || compareVersions(old.record.version, best.record.version) >= 0) return;
  old.want = 'deinstall';
  install(run, best);
}

/** @returns whether it is installed now, be it by this call or before */
function install(run: Run, candidate: Candidate): boolean {
  const { budget } = run.known;
  budget.descend(candidate.record.feed);
  const isDone = installNow(run, candidate);
  budget.ascend();
  return isDone;
}

function installNow(run: Run, candidate: Candidate): boolean {
  if (candidate.state === 'installed') return installDependencies(run, candidate);
  const old = installedByName(run.known, candidate.record.name);
  const obstacle = findObstacle(run, candidate, old);
  if (obstacle !== undefined) return fail(run, obstacle);
  if (!installDependencies(run, candidate)) return false;
  // In a circle of dependencies it was installed meanwhile.
  if (candidate.state === 'unpacked') return true;
  const replaced = replacedBy(run, candidate);
  if (old !== undefined) {
    removeOrphans(run, candidate, old);
    if (old.state === 'not-installed') return fail(run, orphansItself(candidate));
  }
  for (const other of replaced) {
    if (!remove(run, other, 'replaced')) return false;
    if (other === old) return fail(run, replacesItself(candidate));
  }
  candidate.state = 'unpacked';
  candidate.parent.state = 'unpacked';
  if (old !== undefined) old.state = 'not-installed';
  return true;
}

/** What opkg checks, in its order, before it looks at the dependencies. */
function findObstacle(run: Run, candidate: Candidate, old?: Candidate): Failure | undefined {
  if (old !== undefined && compareVersions(old.record.version, candidate.record.version) >= 0) {
    return older(old, candidate);
  }
  candidate.want = 'install';
  if (old !== undefined) old.want = 'deinstall';
  const conflicts = conflictsOf(run.known, candidate);
  if (conflicts.length > 0) return conflicting(candidate, conflicts);
  const shortage = run.space.reserve(candidate, old);
  if (shortage !== undefined) return noSpace(candidate, shortage);
  return candidate.isOffered ? undefined : gone(candidate);
}

function fail({ problems, purpose }: Run, failure: Failure): false {
  problems.push(failureProblem(purpose, failure));
  return false;
}

function installDependencies(run: Run, candidate: Candidate): boolean {
  const found: Candidate[] = [];
  const missing = findMissing(run.search, { candidate, mark: 'isResolved', found });
  if (missing.length > 0) {
    run.problems.push(...missingProblems(run.search, missing, run.purpose));
    return false;
  }
  for (const other of found) other.want = 'install';
  return found.every((other) => isThere(other) || install(run, other));
}

/** Packages that are installed, or about to be, and that the candidate conflicts with. */
function conflictsOf(known: KnownPackages, candidate: Candidate): Candidate[] {
  const { budget } = known;
  const replaced = new Set(candidate.replaces.map(({ name }) => name));
  return candidate.conflicts
    .flatMap(({ anyOf }) => anyOf)
    .flatMap((relation) => {
      const packages = known.find(relation.name)?.packages ?? [];
      budget.spend(1 + packages.length, candidate.record.feed);
      return packages.filter(({ record }) => isSatisfiedBy(relation, record.version));
    })
    .filter((other) => other.state === 'installed' || other.want === 'install')
    .filter((other) => !replaced.has(other.record.name));
}

/** Installed packages that the candidate both replaces and conflicts with. */
function replacedBy({ known: { budget } }: Run, candidate: Candidate): Candidate[] {
  const excluded = new Set(namesIn(candidate.conflicts));
  const others = candidate.replaces.flatMap(({ packages }) => packages ?? []);
  budget.spend(others.length * STEPS_OF_A_GLANCE, candidate.record.feed);
  const isExcluded = ({ name }: Name): boolean => excluded.has(name);
  return others.filter(({ state, provides }) => state === 'installed' && provides.some(isExcluded));
}

/** Removes dependencies that came as such and that only the old version needed. */
function removeOrphans(run: Run, candidate: Candidate, old: Candidate): void {
  const stillNeeded = new Set(hardNames(candidate));
  for (const name of hardNames(old)) {
    if (stillNeeded.has(name)) continue;
    const other = installedByName(run.known, name);
    if (other?.isAuto !== true) continue;
    // The old version itself is one of them.
    if (installedDependents(run, other).length === 1) remove(run, other, 'orphan');
  }
}

function hardNames({ dependencies }: Candidate): string[] {
  return namesIn(dependencies.filter(({ kind }) => kind === 'depends'));
}

/** Dependents, each as often as it was read: in a list, and in the status file. */
function installedDependents(run: Run, { provides, record }: Candidate): Name[] {
  const { budget } = run.known;
  return provides.flatMap(({ dependents }) => {
    budget.spend(dependents.length * STEPS_OF_A_GLANCE, record.feed);
    return dependents.filter(({ state }) => state === 'installed');
  });
}

function removeByName(run: Run, name: string): void {
  const candidate = run.known.find(name)?.packages?.find(isThere);
  if (candidate !== undefined) remove(run, candidate, 'asked');
}

function remove(run: Run, candidate: Candidate, reason: 'asked' | 'orphan' | 'replaced'): boolean {
  const { record, parent } = candidate;
  if (candidate.isEssential) return fail(run, essential(candidate));
  const dependents = installedDependents(run, candidate).map(({ name }) => name);
  if (reason === 'asked' && dependents.length > 0 && !run.isCircle) {
    return fail(run, needed(candidate, [...new Set(dependents)]));
  }
  run.removals.set(record.name, reason);
  candidate.want = 'deinstall';
  candidate.state = 'not-installed';
  parent.state = 'not-installed';
  return true;
}
