import type { FeatureContext } from '../../feature.ts';
import { metaPackageOf } from '../../../package-management/names.ts';
import type { PackageTools } from '../../../package-management/tools.ts';
import type { Act, StepContext } from '../../../jobs/plan.ts';
import type { FleetSettings } from '../options.ts';
import type { ActionRecords } from '../records/records.ts';
import type { Downloads } from '../records/downloads.ts';
import type { Work } from '../rollout/work.ts';
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

/** What the job of one action does; `key` names its record. */
export interface Task {
  work: Work;
  key: string;
}

/** What a name may stand for: the meta package of an app, or the package of that name. */
export function packagesNamed(name: string): string[] {
  return [metaPackageOf(name), name];
}

export function actStep(
  id: string,
  label: string,
  work: (context: StepContext) => Promise<void> | void,
): Act {
  const act: Act['act'] = async (context) => {
    await work(context);
    return undefined;
  };
  return { id, label, act };
}
