import { isPresent, type PackageDatabase } from '../database.ts';
import type { PackageTools } from '../package-tools.ts';

/**
 * What its owner asks for by name is asked for from then on, though it was there and had come as a
 * dependency: it does not go with what brought it. apk has that itself, opkg leaves the mark.
 */
export async function keepAsked(
  { manager, catalog }: Pick<PackageTools, 'manager' | 'catalog'>,
  database: PackageDatabase,
  names: readonly string[],
): Promise<void> {
  const marked = names.filter((name) => {
    const entry = database.get(name);
    return isPresent(entry) && entry.isAuto && entry.isHeld !== true;
  });
  for (const name of marked) await manager.setHold(name, { isHeld: false, isAuto: false });
  if (marked.length > 0) await catalog.refresh();
}
