import type { AppContainers } from './app-containers.ts';
import type { Catalog } from './apps/catalog.ts';
import { plainAct, type Act, type StepContext } from '../jobs/plan.ts';
import type { PackageManager } from './manager.ts';
import type { NoUpgrades } from './no-upgrades.ts';
import type { ExpectedChanges } from './transaction/progress.ts';
import type { UndoCopies } from './undo/undo-copies.ts';

/** What jobs that change packages work with, whichever feature they belong to. */
export interface PackageTools {
  manager: PackageManager;
  catalog: Catalog;
  /** What previews said of the packages that jobs are to change. */
  expected: ExpectedChanges;
  /** Keeps what jobs replace. */
  undo: UndoCopies;
  noUpgrades: NoUpgrades;
  /** Folder of the panel's settings. */
  uciDir: string;
  containers: AppContainers;
  /** What other features do ahead of a job that takes something away; they see to their faults. */
  beforeChange: BeforeChange[];
  /** Hours between two fetches of the lists by itself; 0: never. */
  updateEveryHours: () => number;
}

export type BeforeChange = (
  reason: 'removal' | 'upgrade' | 'self_upgrade',
  context: StepContext,
) => Promise<void>;

/** The step in which other features prepare (`beforeChange`), after the choice of packages. */
export function beforeChangeStep(
  { beforeChange }: Pick<PackageTools, 'beforeChange'>,
  reason: Parameters<BeforeChange>[0],
): Act {
  return plainAct('before-change', 'back up', async (context) => {
    for (const before of beforeChange) await before(reason, context);
  });
}
