import { createContainerHost } from './host.ts';
import { CONTAINER_SECTION } from './options.ts';
import { migratePlan } from './move-plan.ts';
import { containerRoutes, CONTAINER_LANE } from './routes.ts';
import { valuesOf } from '../../config/config.ts';
import type { Feature, FeatureContext } from '../feature.ts';

/** Where the data of the container engine lies, and moving it to another folder. */
export function createContainerDataFeature(context: FeatureContext): Feature {
  const container = createContainerHost(context);
  return {
    documentation: async () => (await import('./documentation.ts')).CONTAINER_DOCUMENTATION,
    routes: () => containerRoutes({ ...context, container }),
    checks: async () => (await import('./checks.ts')).containerChecks(container),
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
