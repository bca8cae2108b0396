import type { ContainerHost } from '../container-data/device.ts';
import type { SelfUpgradeHost } from '../self-upgrade/port.ts';
import type { UploadFolder } from '../uploads/port.ts';
import type { PackageHost } from './package-manager.ts';
import type { AutoInstalled } from './auto-installed.ts';
import type { Catalog } from './catalog.ts';
import type { RunRecords } from '../uploads/run-records.ts';

/** What the plans of jobs work with. */
export interface PackageTools {
  packages: PackageHost;
  catalog: Catalog;
  auto: AutoInstalled;
  uploads: UploadFolder;
  records: RunRecords;
  selfUpgrade: SelfUpgradeHost;
  container: ContainerHost;
}
