import { PACKAGE_LANE } from './package-manager.ts';
import { autoconfPlan } from './autoconf.ts';
import { createAutoInstalled } from './auto-installed.ts';
import { createCatalog } from './catalog.ts';
import type { PackageTools } from './deps.ts';
import { createOpkg } from './opkg/create-opkg.ts';
import { installPlan, removePlan, upgradePlan } from './plans.ts';
import { storeRoutes } from './routes.ts';
import { updatePlan } from './update-plan.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import type { JobKind } from '../../jobs/kinds.ts';

/** Apps and packages: what is installed, and the jobs that change it. */
export interface PackagesFeature extends Feature {
  /** For other features that install or remove packages. */
  tools: PackageTools;
}

export async function createPackagesFeature(context: FeatureContext): Promise<PackagesFeature> {
  const packages = await createOpkg(context);
  const catalog = createCatalog({ packages, log: context.log });
  const tools = { packages, catalog, auto: createAutoInstalled(context.notes) };
  return {
    tools,
    routes: () => storeRoutes({ ...context, catalog }),
    jobs: kindsOf(tools),
    start: catalog.watch,
    close: catalog.close,
  };
}

function kindsOf(tools: PackageTools): Record<string, JobKind> {
  const lane = PACKAGE_LANE;
  return {
    install: {
      lane,
      title: (subject) => `install ${subject}`,
      plan: (job) => installPlan(tools, job),
    },
    remove: {
      lane,
      title: (subject) => `remove ${subject}`,
      plan: (job) => removePlan(tools, job),
      contradicts: ['install', 'upgrade', 'autoconf'],
    },
    upgrade: {
      lane,
      title: (subject) => `upgrade ${subject}`,
      plan: (job) => upgradePlan(tools, job),
    },
    autoconf: {
      lane,
      title: (subject) => `configure ${subject}`,
      plan: () => autoconfPlan(tools.packages),
    },
    update: { lane, title: () => 'opkg update', plan: () => updatePlan(tools) },
  };
}
