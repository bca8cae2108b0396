import type { Feature } from '../feature.ts';
import type { PackageTools } from '../packages/package-tools.ts';
import { planRoutes } from './routes.ts';

/** What a change of packages would do: for people who decide, and for a dry run. */
export function createPlanFeature(tools: PackageTools): Feature {
  return {
    documentation: async () => (await import('./documentation.ts')).PLAN_DOCUMENTATION,
    routes: () => planRoutes(tools),
  };
}
