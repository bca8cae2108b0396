import type { InstalledRecord } from '../database/installed-db.ts';
import type { ApkOffer } from '../feeds/offers.ts';
import type { PlannedChange } from './simulation.ts';

/** What a plan takes, in bytes. */
export interface PlanSizes {
  download: number;
  /** What the root grows by; negative if it shrinks. */
  disk: number;
}

/** As the indexes and the record have it; what apk prints itself is rounded. */
export function sizesOf(
  changes: readonly PlannedChange[],
  {
    offers,
    records,
  }: {
    offers: ReadonlyMap<string, readonly ApkOffer[]>;
    records: ReadonlyMap<string, InstalledRecord>;
  },
): PlanSizes {
  const sizes = { download: 0, disk: 0 };
  for (const { name, to } of changes) {
    const offer = offers.get(name)?.find(({ version }) => version === to);
    sizes.download += offer?.downloadBytes ?? 0;
    sizes.disk += (offer?.installedBytes ?? 0) - (records.get(name)?.installedBytes ?? 0);
  }
  return sizes;
}
