import type { ContainerHost } from '../host/container-goods.ts';
import type { SelfUpgradeHost, UploadFolder } from '../host/goods.ts';
import type { PackageHost } from '../host/host.ts';
import type { AutoInstalled } from './auto-installed.ts';
import type { Catalog } from './catalog.ts';
import type { RunRecords } from './run-records.ts';

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
