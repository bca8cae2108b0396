import { cutLine } from '../../listing.ts';
import { compareVersions } from '../compare-versions.ts';
import { splitList } from '../database/stanza.ts';
import type { PlanBudget } from './budget.ts';
import type { PackedLists } from './packed-lists.ts';
import type { PackageRecord } from './package-records.ts';

export type Relation = NonNullable<ReturnType<typeof parseRelation>>;
export type Dependency = ReturnType<typeof parseDependencies>[number];

/**
 * `a (>= 1), b | c` as opkg reads it: a name ends at the first blank.
 * @param kind `recommends` may stay unmet, `suggests` is only mentioned
 */
export function parseDependencies(
  text: string,
  kind: 'depends' | 'recommends' | 'suggests' = 'depends',
) {
  return splitList(text).map((entry) => ({
    kind,
    /** The dependency as the field has it, for messages; cut. */
    text: cutLine(entry),
    /** Alternatives of a dependency: one of these is enough. */
    anyOf: entry
      .split('|')
      .map(parseRelation)
      .filter((relation) => relation !== undefined),
  }));
}

const RELATION = /^\s*([^\s]+)(?:\s+\(\s*(<<|<=|>=|>>|=|<|>)?\s*([^)]*)\))?/;

/** One name that a field such as `Depends` wants, with the version it wants, if any. */
function parseRelation(text: string) {
  const [, name, operator = '', version = ''] = RELATION.exec(text) ?? [];
  if (name === undefined) return undefined;
  /** Empty if any version will do. */
  const sign = operator.slice(0, 1) as '' | '=' | '<' | '>';
  return { name, operator: sign, version: version.trim() };
}

export function namesIn(dependencies: readonly Dependency[]): string[] {
  return dependencies.flatMap(({ anyOf }) => anyOf.map(({ name }) => name));
}

/** Names of a field such as `Provides`, split at commas and blanks. */
export function parseNames(text: string): string[] {
  return text.split(/[,\s]+/).filter((name) => name !== '');
}

/** To opkg the version itself satisfies every operator, "earlier" and "later" too. */
export function isSatisfiedBy({ operator, version }: Relation, offered: string): boolean {
  if (operator === '') return true;
  const order = compareVersions(offered, version);
  return order === 0 || (operator === '<' && order < 0) || (operator === '>' && order > 0);
}

/** What a record says of other packages. */
export interface RecordRelations {
  dependencies: readonly Dependency[];
  conflicts: readonly Dependency[];
  /** Names that the package provides, without its own. */
  provides: readonly string[];
  replaces: readonly string[];
  /** Names in all of them; what a reading of them counts. */
  count: number;
}

/** Characters of a field that weigh as much as one dependency. */
const CHARACTERS = 200;

/**
 * Each record is read once for a plan, though opkg goes over the lists several times.
 * @throws DepotError with the code `plan_too_large`, each of them
 */
export function createRelationsReader(budget: PlanBudget) {
  const known = new Map<PackageRecord, RecordRelations>();
  return (record: PackageRecord): RecordRelations => {
    const found = known.get(record);
    if (found !== undefined) return found;
    const { depends, recommends, suggests, conflicts, provides, replaces, feed } = record;
    const texts = [depends, recommends, suggests, conflicts, provides, replaces];
    // Counted before they are read: one field can name a hundred thousand.
    const count = texts.reduce((sum, text) => sum + countNames(text), 0);
    budget.keep(count, feed);
    const relations = {
      dependencies: [
        ...parseDependencies(depends),
        ...parseDependencies(recommends, 'recommends'),
        ...parseDependencies(suggests, 'suggests'),
      ],
      conflicts: parseDependencies(conflicts),
      provides: parseNames(provides),
      replaces: parseNames(replaces),
      count,
    };
    known.set(record, relations);
    return relations;
  };
}

/** Roughly: a wanted version counts, too. */
function countNames(text: string): number {
  return text === '' ? 0 : text.split(/[,|\s]+/).length + text.length / CHARACTERS;
}

/** What one run of opkg reads. */
export interface RecordSources {
  lists: PackedLists;
  status: readonly PackageRecord[];
  /** On the command line. */
  names: readonly string[];
  relationsOf: (record: PackageRecord) => RecordRelations;
}

/**
 * Every name that names on the command line, and what is installed, lead to: by what packages need,
 * exclude, provide and replace. The rest of ten thousand is left unread.
 */
export function reachableNames({ lists, status, names, relationsOf }: RecordSources): Set<string> {
  const reached = new Set<string>([...names, ...status.map(({ name }) => name)]);
  const done = new Set<PackageRecord>();
  const visit = (record: PackageRecord): void => {
    if (done.has(record)) return;
    const { dependencies, conflicts, provides, replaces } = relationsOf(record);
    const standsFor = [...provides, ...replaces];
    if (!reached.has(record.name) && !standsFor.some((name) => reached.has(name))) return;
    done.add(record);
    reached.add(record.name);
    const others = [...namesIn(dependencies), ...namesIn(conflicts), ...standsFor];
    for (const name of others) reached.add(name);
  };
  for (let before = -1; before !== reached.size;) {
    before = reached.size;
    lists.read((name, isStandIn) => isStandIn || reached.has(name), visit);
    status.forEach(visit);
  }
  return reached;
}
