import type { AutoInstalled } from './auto-installed.ts';
import type { Catalog } from './catalog.ts';
import type { PackageHost } from './package-manager.ts';

/** What jobs that change packages work with, whichever feature they belong to. */
export interface PackageTools {
  packages: PackageHost;
  catalog: Catalog;
  auto: AutoInstalled;
}
