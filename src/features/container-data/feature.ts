import { createDataRootSettings } from './engine/data-root-setting.ts';
import { createContainerEngine } from './engine/engine.ts';
import type { ContainerHost } from './device.ts';
import { createLocations } from './locations.ts';
import { CONTAINER_SECTION } from './options.ts';
import { migratePlan } from './plan.ts';
import { containerRoutes, CONTAINER_LANE } from './routes.ts';
import { createCopier } from './rsync/rsync.ts';
import { createMoveFolders } from './target-folder.ts';
import { valuesOf } from '../../config/config.ts';
import type { Feature, FeatureContext } from '../feature.ts';

/** Where the data of the container engine lies, and moving it to another folder. */
export function createContainerDataFeature(context: FeatureContext): Feature {
  const container = createContainerHost(context);
  return {
    documentation: async () => (await import('./documentation.ts')).CONTAINER_DOCUMENTATION,
    routes: () => containerRoutes({ ...context, container }),
    checks: async () => (await import('./checks.ts')).containerChecks(container.engine),
    jobs: {
      migrate: {
        lane: CONTAINER_LANE,
        title: (subject) => `move the container data to ${subject}`,
        plan: (job) => migratePlan({ container }, job),
      },
    },
  };
}

/** Where the container engine answers, by the configuration in force. */
export function engineSocket({ config }: Pick<FeatureContext, 'config'>): string {
  return valuesOf(config(), CONTAINER_SECTION).socket;
}

/** The real container engine of the device, its data and its tools. */
function createContainerHost({ paths, environment, config }: FeatureContext): ContainerHost {
  return {
    engine: createContainerEngine({
      paths,
      environment,
      settings: () => valuesOf(config(), CONTAINER_SECTION),
    }),
    settings: createDataRootSettings(paths),
    locations: createLocations(environment),
    copier: createCopier(environment),
    moves: createMoveFolders(),
  };
}
