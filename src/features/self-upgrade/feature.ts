import { selfUpgradePlan } from './self-upgrade-plan.ts';
import { selfUpgradeRoutes } from './routes.ts';
import { createSelfUpgradeHost } from './watcher.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';

/** The daemon's own package: whether there is a newer one, and going over to it. */
export function createSelfUpgradeFeature(context: FeatureContext, tools: PackageTools): Feature {
  const { manager } = tools;
  const selfUpgrade = createSelfUpgradeHost(context, manager);
  return {
    documentation: async () => (await import('./documentation.ts')).SELF_UPGRADE_DOCUMENTATION,
    routes: () => selfUpgradeRoutes({ ...context, ...selfUpgrade, manager }),
    jobs: {
      'self-upgrade': {
        lane: PACKAGE_LANE,
        admit: manager.assertUsable,
        title: (subject) => `upgrade ${subject}`,
        plan: () => selfUpgradePlan({ ...tools, selfUpgrade }),
        contradicts: ['remove'],
      },
    },
  };
}
