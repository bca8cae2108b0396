import type { PackageRecord } from './records.ts';
import { parseDependencies, parseNames } from './relations.ts';

/**
 * Every name that names on the command line, and what is installed, lead to: by what packages need,
 * exclude, provide and replace. The rest of ten thousand is left unread.
 */
export function reachableNames({
  lists,
  status,
  names,
}: {
  lists: readonly PackageRecord[];
  status: readonly PackageRecord[];
  names: readonly string[];
}): Set<string> {
  const records = new Map<string, PackageRecord[]>();
  /** Who provides or replaces a name. */
  const standIns = new Map<string, string[]>();
  for (const record of [...lists, ...status]) {
    add(records, record.name, record);
    for (const name of parseNames(`${record.provides} ${record.replaces}`)) {
      add(standIns, name, record.name);
    }
  }
  const reached = new Set<string>([...names, ...status.map(({ name }) => name)]);
  // A set hands out what is added while it is gone through.
  for (const name of reached) {
    for (const other of standIns.get(name) ?? []) reached.add(other);
    for (const record of records.get(name) ?? []) {
      for (const other of namesOf(record)) reached.add(other);
    }
  }
  return reached;
}

function namesOf(record: PackageRecord): string[] {
  const { depends, recommends, suggests, conflicts, provides, replaces } = record;
  const relations = [depends, recommends, suggests, conflicts].flatMap((field) =>
    parseDependencies(field).flatMap(({ anyOf }) => anyOf.map(({ name }) => name)),
  );
  return [...relations, ...parseNames(`${provides} ${replaces}`)];
}

function add<Value>(index: Map<string, Value[]>, key: string, value: Value): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, [value]);
  else known.push(value);
}
