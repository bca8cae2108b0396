import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FeatureContext } from '../feature.ts';
import type { Command } from '../../device/command.ts';
import type { Job } from '../../jobs/job.ts';
import type { CommandStep, Plan } from '../../jobs/plan.ts';
import {
  EXPLAINED_BYTES,
  failureError,
  lastWords,
  plainLines,
} from '../../package-management/failure.ts';
import { isOff } from '../../http/parameter-schemas.ts';

/** Where the scripts are, and what they get. */
export type ScriptContext = Pick<FeatureContext, 'paths' | 'scriptEnvironment'>;

export function autoconfPlan(context: ScriptContext): Plan {
  return { steps: [autoconfStep(context)], repair: [] };
}

/**
 * Runs the script that configures the app. It fails the job if there is none, or if it fails.
 */
export function autoconfStep(context: ScriptContext): CommandStep {
  return {
    id: 'configure',
    label: 'configure',
    mustSucceed: true,
    command: async ({ job }) => {
      const command = await findScript(context, job);
      if (command === undefined) {
        throw failureError(`configure ${job.subject}`, {
          code: 'not_found',
          package: job.subject,
          reason: 'it has no configuration script',
          remedy: 'Install the app first; some apps are configured on their own page alone.',
        });
      }
      return command;
    },
    failure: async ({ job, lastPrinted }) => {
      const words = lastWords(plainLines(await lastPrinted(EXPLAINED_BYTES).catch(() => '')));
      return failureError(`configure ${job.subject}`, {
        code: 'script_failed',
        package: job.subject,
        reason:
          `its configuration script ended with exit code ${job.lastExitCode ?? 'none'}` +
          (words === undefined ? '' : `: ${words}`),
      });
    },
  };
}

async function findScript(
  { paths, scriptEnvironment }: ScriptContext,
  job: Readonly<Job>,
): Promise<Command | undefined> {
  const file = join(paths.autoconfDir, `${job.subject}.sh`);
  const isThere = await stat(file).then(
    (entry) => entry.isFile(),
    () => false,
  );
  const environment = { ...scriptEnvironment, ...autoconfEnvironment(job) };
  return isThere ? { argv: ['/bin/sh', file], environment, cwd: '/' } : undefined;
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
