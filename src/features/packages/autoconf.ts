import { DepotError } from '../../errors.ts';
import type { PackageHost } from './package-manager.ts';
import type { Job } from '../../jobs/job.ts';
import type { CommandStep, Plan } from '../../jobs/plan.ts';
import { isOff } from '../../http/parameter-schemas.ts';

export function autoconfPlan(packages: PackageHost): Plan {
  const former = { steps: ['configure'], repair: [] };
  return { steps: [autoconfStep(packages)], repair: [], former };
}

/**
 * Runs the script that configures the app. It fails the job where there is none, or where it fails.
 */
export function autoconfStep(packages: PackageHost): CommandStep {
  return {
    id: 'configure',
    label: 'configure',
    mustSucceed: true,
    command: async ({ job }) => {
      const command = await packages.commands.autoconf(job.subject, autoconfEnvironment(job));
      if (command === undefined) {
        throw new DepotError(
          'not_found',
          `cannot configure ${job.subject}: it has no configuration script`,
        );
      }
      return command;
    },
  };
}

/**
 * The variables that configuration scripts read (openwrt-app-meta): folders below the path chosen,
 * and whether to start.
 */
function autoconfEnvironment({ subject, params }: Readonly<Job>): Record<string, string> {
  const { path } = params;
  const folders = path === undefined || path === '' ? {} : foldersBelow(path === '/' ? '' : path);
  return {
    ISTORE_AUTOCONF: subject,
    ...folders,
    ...(isOff(params.enable) ? { ISTORE_DONT_START: '1' } : {}),
  };
}

function foldersBelow(path: string): Record<string, string> {
  return {
    ISTORE_CONF_DIR: `${path}/Configs`,
    ISTORE_CACHE_DIR: `${path}/Caches`,
    ISTORE_PUBLIC_DIR: `${path}/Public`,
    ISTORE_DL_DIR: `${path}/Public/Downloads`,
  };
}
