import type { Installation } from '../installation.ts';
import { editWorld, withoutPin } from '../database/world-edit.ts';
import { isHashPin } from '../database/dependency.ts';
import { readWorld, type WorldEntry } from '../database/world.ts';

const OWN = /^(?:depotd(?:-node|-keyring)?|luci-(?:app|i18n)-depotd(?:-[a-z-]+)?)$/;

/**
 * Whoever installed depotd from a file has its hash in world, and no feed would ever upgrade it
 * again. A version that the owner chose stays.
 */
export async function dropOwnPins({ locations, environment }: Installation): Promise<void> {
  const { entries } = await readWorld(locations.world);
  // apk gives up at once where its lock is held: that is not taken for nothing.
  if (!entries.some(isOwnPin)) return;
  await editWorld(locations, environment, (current) =>
    current.map((entry) => (isOwnPin(entry) ? withoutPin(entry) : entry)),
  );
}

function isOwnPin(entry: WorldEntry): boolean {
  return OWN.test(entry.name) && isHashPin(entry);
}
