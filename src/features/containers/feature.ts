import type { AppContainers } from '../../package-management/package-tools.ts';
import type { PackageManager } from '../../package-management/manager.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { createAppContainers } from './app-containers.ts';
import { createEngineView } from './engine-view.ts';
import { containersRoutes } from './routes.ts';
import { createRunStates, type RunState } from './app-scripts.ts';

/** What runs in containers on the device, and the containers of apps. */
export interface ContainersFeature extends Feature {
  /** The containers of apps, for removals, which take them along. */
  ofApps: (manager: Pick<PackageManager, 'listing'>) => AppContainers;
  /** How the containers of apps run that have a container script and no entry script. */
  runStates: () => Promise<ReadonlyMap<string, RunState>>;
}

/** @param socket where the container engine answers */
export function createContainersFeature(
  { paths }: FeatureContext,
  socket: () => string,
): ContainersFeature {
  const engine = createEngineView(socket);
  return {
    ofApps: ({ listing }) => createAppContainers({ paths, engine, listing }),
    runStates: createRunStates(paths, engine),
    documentation: async () => (await import('./documentation.ts')).CONTAINERS_DOCUMENTATION,
    routes: () => containersRoutes(paths, engine),
    checks: async () => [(await import('./checks.ts')).restartCheck(engine)],
  };
}
