import type { FeatureContext } from '../../feature.ts';
import type { PackageTools } from '../../../package-management/tools.ts';
import type { FleetSettings } from '../options.ts';
import type { ActionRecords } from '../records/records.ts';
import type { Downloads } from '../records/downloads.ts';
import type { Baseline } from './baseline.ts';
import type { KeptPackages } from '../../../package-management/transaction/kept-packages.ts';

/** What the job of an action works with. */
export interface FleetJobTools extends PackageTools {
  paths: FeatureContext['paths'];
  scriptEnvironment: FeatureContext['scriptEnvironment'];
  settings: () => FleetSettings;
  records: ActionRecords;
  downloads: Downloads;
  baseline: Baseline;
  kept: KeptPackages;
  /**
   * Asks the server anew, with another token than the file has if one is given.
   * @throws DepotError if it does not answer as it should
   */
  reach: (token?: string) => Promise<void>;
  /** What the server knows of the device. */
  attributes: () => Promise<Readonly<Record<string, string>>>;
  /** As somebody stops a task. */
  stop: (jobId: string) => Promise<unknown>;
}
