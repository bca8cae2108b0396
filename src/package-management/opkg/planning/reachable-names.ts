import type { PackedLists } from './packed-lists.ts';
import { namesIn } from './relations.ts';
import type { RecordRelations } from './record-relations.ts';
import type { PackageRecord } from './records.ts';

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
