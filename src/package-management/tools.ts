import type { AppContainers } from './app-containers.ts';
import type { Catalog } from './apps/catalog.ts';
import type { PackageManager } from './manager.ts';
import type { ExpectedChanges } from './transaction/progress.ts';
import type { UndoCopies } from './undo/copies.ts';

/** What jobs that change packages work with, whichever feature they belong to. */
export interface PackageTools {
  manager: PackageManager;
  catalog: Catalog;
  /** What previews said of the changes to come. */
  expected: ExpectedChanges;
  /** Keeps what jobs replace. */
  undo: UndoCopies;
  /** Folder of the panel's settings. */
  uciDir: string;
  containers: AppContainers;
  /** Hours between two fetches of the lists by itself; 0: never. */
  updateEveryHours: () => number;
}
