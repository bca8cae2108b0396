import type { PlanBudget } from './budget.ts';
import type { PackageRecord } from './records.ts';
import { parseDependencies, parseNames, type Dependency } from './relations.ts';

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
    const count = texts.reduce((sum, text) => sum + namesIn(text), 0);
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
function namesIn(text: string): number {
  if (text === '') return 0;
  const count = text.split(SEPARATORS).length;
  return count + text.length / CHARACTERS;
}
