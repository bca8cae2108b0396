import { firstNotBefore, foldedName, type PackageIndex } from './package-index.ts';
import { isAppAt } from './row-kinds.ts';

/** Ids of all rows by name: those of `offered` that are not hidden, then those of `local`. */
export function mergeByName(
  offered: PackageIndex,
  local: PackageIndex,
  hidden: ReadonlySet<number>,
): Uint32Array {
  const order = new Uint32Array(offered.count + local.count - hidden.size);
  let size = 0;
  let next = 0;
  const addOfferedUntil = (end: number): void => {
    for (; next < end; next += 1) {
      if (hidden.has(next)) continue;
      order[size] = next;
      size += 1;
    }
  };
  for (let row = 0; row < local.count; row += 1) {
    addOfferedUntil(positionAmong(offered, local, row));
    order[size] = offered.count + row;
    size += 1;
  }
  addOfferedUntil(offered.count);
  return order;
}

/** An app stands before the packages of its name. */
function positionAmong(offered: PackageIndex, local: PackageIndex, row: number): number {
  const folded = foldedName(local, row);
  let position = firstNotBefore(offered, folded);
  if (isAppAt(local, row)) return position;
  while (position < offered.count && foldedName(offered, position) === folded) position += 1;
  return position;
}
