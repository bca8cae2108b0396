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

/** A container that goes with its app, as a plan shows it. */
export interface PlannedContainer {
  name: string;
  image: string;
  /** Size of its image; left out if the engine does not say it. */
  image_bytes?: number;
  /** The image names no version: what is fetched another time may be another one. */
  is_unpinned?: true;
  /** Data folders of the app, which stay unless they are asked to go. */
  keeps: string[];
}

/** Containers that apps brought, for what plans and makes the removal of their packages. */
export interface AppContainers {
  /** What would go with these packages; nothing if the engine does not answer. */
  planned: (packages: readonly string[]) => Promise<PlannedContainer[]>;
  /**
   * Puts on record what goes with these packages, before any of them does: their scripts, which
   * know the names of the containers, go with them.
   * @throws DepotError unavailable if the engine is there and does not answer
   */
  choose: (
    context: StepContext,
    work: {
      /** The app or package, as it was asked for. */
      subject: string;
      packages: readonly string[];
      /** Whether images and data folders go, too. */
      isPurge: boolean;
    },
  ) => Promise<void>;
  /** Once the packages have gone, removes what was put on record. */
  remove: Act;
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
