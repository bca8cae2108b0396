import type { DeviceCheck } from '../../device-check.ts';
import type { FeatureContext } from '../../feature.ts';
import { clockCheck } from './clock.ts';
import { listenersCheck } from './listeners.ts';
import { spaceChecks } from './space.ts';
import { toolsCheck } from './tools.ts';

/** What is true of the device and the daemon as a whole. */
export async function systemChecks(
  { paths, config, environment }: Pick<FeatureContext, 'paths' | 'config' | 'environment'>,
  packageFolders: readonly string[],
): Promise<readonly DeviceCheck[]> {
  return [
    ...(await spaceChecks(paths)),
    clockCheck([paths.stateDir, paths.uciDir, ...packageFolders]),
    listenersCheck(config()),
    toolsCheck(environment.PATH ?? ''),
  ];
}
