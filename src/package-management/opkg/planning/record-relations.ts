import type { PlanBudget } from './budget.ts';
import type { PackedLists } from './packed-lists.ts';
import type { PackageRecord } from './records.ts';
import { namesIn, parseDependencies, parseNames, type Dependency } from './relations.ts';

/** What a record says of other packages. */
export interface RecordRelations {
  dependencies: readonly Dependency[];
  conflicts: readonly Dependency[];
  /** Without its own name. */
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
export function createRelationsReader(
  budget: PlanBudget,
): (record: PackageRecord) => RecordRelations {
  const known = new Map<PackageRecord, RecordRelations>();
  return (record) => {
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

const SEPARATORS = /[,|\s]+/;

/** Roughly: a wanted version counts, too. */
function countNames(text: string): number {
  if (text === '') return 0;
  const count = text.split(SEPARATORS).length;
  return count + text.length / CHARACTERS;
}

/**
 * Every name that names on the command line, and what is installed, lead to: by what packages need,
 * exclude, provide and replace. The rest of ten thousand is left unread.
 */
export function reachableNames({
  lists,
  status,
  names,
  relationsOf,
}: {
  lists: PackedLists;
  status: readonly PackageRecord[];
  names: readonly string[];
  relationsOf: (record: PackageRecord) => RecordRelations;
}): Set<string> {
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
