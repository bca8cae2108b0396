import { compareVersions, stepsOfComparison } from '../compare-versions.ts';
import type { PlanBudget } from './budget.ts';
import type { PackageRecord } from './package-records.ts';
import { namesIn, reachableNames, type RecordSources } from './relations.ts';

/** A name that opkg has met: of a package, or of something that packages provide. */
export interface Name {
  name: string;
  /** Packages of that name; undefined until one was met. */
  packages: Candidate[] | undefined;
  providedBy: Name[];
  /** Packages that both conflict with it and replace it. */
  replacedBy: Name[];
  /** Who depends on it, as often as that was read. */
  dependents: Name[];
  state: string;
  isNeeded: boolean;
  /** A name's dependencies are looked at once in the search, and once in the installation. */
  isSearched: boolean;
  isResolved: boolean;
}

export type Candidate = ReturnType<typeof candidateOf>;

/**
 * The packages that one run of opkg knows, read as it reads them. What that takes is counted, here
 * and in whoever goes over them.
 */
export type KnownPackages = ReturnType<typeof createKnownPackages>;

export interface KnownSources extends RecordSources {
  architectures: ReadonlyMap<string, number>;
  /**
   * `needed`: opkg goes over the lists until no further name turns out to be needed, as `install`
   * does; `whole`: it reads all of them once, as `upgrade` does; `none`: it needs no lists.
   */
  reading: 'needed' | 'whole' | 'none';
  budget: PlanBudget;
}

/** @throws DepotError with the code `plan_too_large` */
export function createKnownPackages(sources: KnownSources) {
  const { lists, budget, relationsOf } = sources;
  const names = new Map<string, Name>();
  const nameOf = (name: string): Name => {
    let entry = names.get(name);
    if (entry === undefined) {
      budget.keep(ENTRIES_OF_A_NAME);
      entry = emptyName(name);
      names.set(name, entry);
    }
    return entry;
  };
  const priorityOf = (architecture: string): number =>
    sources.architectures.size === 0 ? 1 : (sources.architectures.get(architecture) ?? 0);
  const find = (name: string): Name | undefined => names.get(name);
  const tools = { nameOf, find, priorityOf, relationsOf, budget };
  const readLists = (needed: ReadonlySet<string>): void =>
    // A record that no dependency leads to has no influence on the plan.
    lists.read(
      (name, isStandIn) => isStandIn || needed.has(name) || find(name)?.isNeeded === true,
      (record) => readRecord(record, needed.has(record.name), tools),
    );

  if (sources.reading === 'whole') readLists(reachableNames(sources));
  else if (sources.reading === 'needed') {
    for (const name of sources.names) nameOf(name).isNeeded = true;
    for (let before = -1, now = 0; now !== before;) {
      before = now;
      readLists(NONE);
      now = countNeeded(names);
    }
  }
  for (const record of sources.status) readRecord(record, true, tools);
  return {
    name: nameOf,
    find,
    budget,
    /** The priority of its architecture in opkg's configuration; 0: it cannot be installed here. */
    priority: ({ record }: Candidate): number => priorityOf(record.architecture),
    candidates: (): Candidate[] => [...names.values()].flatMap(({ packages }) => packages ?? []),
  };
}

/** What a name takes of memory, beside each mention of it. */
const ENTRIES_OF_A_NAME = 1;

const NONE: ReadonlySet<string> = new Set();

function countNeeded(names: ReadonlyMap<string, Name>): number {
  let count = 0;
  for (const { isNeeded } of names.values()) if (isNeeded) count += 1;
  return count;
}

function emptyName(name: string): Name {
  return {
    name,
    packages: undefined,
    providedBy: [],
    replacedBy: [],
    dependents: [],
    state: 'not-installed',
    isNeeded: false,
    isSearched: false,
    isResolved: false,
  };
}

interface ReaderTools extends Pick<KnownSources, 'relationsOf' | 'budget'> {
  nameOf: (name: string) => Name;
  find: (name: string) => Name | undefined;
  priorityOf: (architecture: string) => number;
}

/** Reading a paragraph leaves traces in the names it has, even if its package is left aside. */
function readRecord(record: PackageRecord, isAsked: boolean, tools: ReaderTools): void {
  const isNeeded = isAsked || tools.find(record.name)?.isNeeded === true;
  if (!isNeeded && record.provides === '' && record.replaces === '') return;
  const candidate = candidateOf(record, tools);
  if (record.provides !== '') noteProvided(candidate, tools);
  if (record.replaces !== '') noteReplaced(candidate, isNeeded, tools);
  if (isNeeded && tools.priorityOf(record.architecture) > 0) insert(candidate, tools);
}

/** A version of a package: installed, offered, or both. */
function candidateOf(record: PackageRecord, tools: ReaderTools) {
  const { nameOf, relationsOf, budget } = tools;
  const [want = 'unknown', flags = '', state = 'not-installed'] =
    record.status === '' ? [] : record.status.split(/\s+/);
  const parent = nameOf(record.name);
  const { dependencies, conflicts, provides, replaces, count } = relationsOf(record);
  budget.spend(1 + count, record.feed);
  return {
    record,
    parent,
    state,
    want,
    isHeld: flags.split(',').includes('hold'),
    isPreferred: flags.split(',').includes('prefer'),
    isAuto: record.isAuto,
    isEssential: record.isEssential,
    /** Whether a feed has its file. */
    isOffered: record.hasFile,
    /** Whether a list of a feed has it. */
    isListed: record.status === '',
    dependencies,
    conflicts,
    /** Names that the package provides, its own among them. */
    provides: [parent, ...provides.map(nameOf)],
    replaces: replaces.map(nameOf),
  };
}

function noteProvided(candidate: Candidate, tools: ReaderTools): void {
  const { parent, provides } = candidate;
  parent.packages ??= [];
  addOnce(parent.providedBy, parent, tools);
  needRelated(candidate, tools);
  for (const provided of provides) {
    if (provided.isNeeded) parent.isNeeded = true;
    addOnce(provided.providedBy, parent, tools);
  }
}

function noteReplaced(candidate: Candidate, isNeeded: boolean, tools: ReaderTools): void {
  const { parent, record, conflicts, replaces } = candidate;
  parent.packages ??= [];
  parent.providedBy.push(parent);
  const excluded = record.isReplacement ? new Set(namesIn(conflicts)) : NONE;
  for (const replaced of replaces) {
    replaced.isNeeded ||= isNeeded;
    if (excluded.has(replaced.name)) addOnce(replaced.replacedBy, parent, tools);
  }
}

function needRelated({ dependencies, conflicts }: Candidate, { nameOf }: ReaderTools): void {
  const related = [...namesIn(dependencies), ...namesIn(conflicts)];
  for (const name of related) nameOf(name).isNeeded = true;
}

function insert(candidate: Candidate, tools: ReaderTools): void {
  const { parent, record, dependencies } = candidate;
  const { nameOf } = tools;
  parent.packages ??= [];
  addOnce(parent.providedBy, parent, tools);
  if (isThere(candidate)) parent.state = candidate.state;
  needRelated(candidate, tools);
  const needed = dependencies.filter(({ kind }) => kind !== 'suggests');
  for (const name of namesIn(needed)) nameOf(name).dependents.push(parent);
  tools.budget.spend(parent.packages.length * stepsOfComparison(record.version), record.feed);
  const index = parent.packages.findIndex((known) => isSame(candidate, known));
  const known = parent.packages[index];
  if (known === undefined) {
    parent.packages.push(candidate);
    return;
  }
  parent.packages[index] = record.status === '' ? candidate : merged(candidate, known);
}

/** Two records of one version as one: what the status file leaves out comes from the list. */
function merged(candidate: Candidate, known: Candidate): Candidate {
  const { record } = candidate;
  return {
    ...candidate,
    record: {
      ...record,
      downloadBytes: known.record.downloadBytes,
      installedBytes: record.installedBytes || known.record.installedBytes,
    },
    isAuto: candidate.isAuto || known.isAuto,
    isEssential: candidate.isEssential || known.isEssential,
    isOffered: candidate.isOffered || known.isOffered,
    isListed: candidate.isListed || known.isListed,
    dependencies: candidate.dependencies.length > 0 ? candidate.dependencies : known.dependencies,
    conflicts: candidate.conflicts.length > 0 ? candidate.conflicts : known.conflicts,
    provides: candidate.provides.length > 1 ? candidate.provides : known.provides,
    replaces: candidate.replaces.length > 0 ? candidate.replaces : known.replaces,
  };
}

function isSame({ record, want, isHeld }: Candidate, { record: known }: Candidate): boolean {
  if (want === 'deinstall' && isHeld) return true;
  if (record.architecture !== known.architecture) return false;
  return compareVersions(record.version, known.version) === 0;
}

/** Comparing one entry of a list with another, in steps of the budget. */
export const STEPS_OF_A_GLANCE = 1 / 32;

export function isThere({ state }: { state: string }): boolean {
  return state === 'installed' || state === 'unpacked';
}

function addOnce(list: Name[], entry: Name, { budget }: Pick<ReaderTools, 'budget'>): void {
  budget.spend(list.length * STEPS_OF_A_GLANCE);
  if (!list.includes(entry)) list.push(entry);
}
