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

/** Where the scripts that configure apps are, and what they get. */
export type ScriptContext = Pick<FeatureContext, 'paths' | 'scriptEnvironment'>;

export function autoconfPlan(context: ScriptContext): Plan {
  return { steps: [autoconfStep(context)], repair: [] };
}

/** Runs the script that configures the app. It fails the job if there is none, or if it fails. */
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
      const ended = `its configuration script ended with exit code ${job.lastExitCode ?? 'none'}`;
      const reason = words === undefined ? ended : `${ended}: ${words}`;
      const failure = { code: 'script_failed', package: job.subject, reason } as const;
      return failureError(`configure ${job.subject}`, failure);
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
  return isThere ? { argv: ['/bin/sh', file], environment } : undefined;
}

/** The variables that scripts read (openwrt-app-meta): folders below the path, whether to start. */
function autoconfEnvironment({ subject, params: { path = '', enable } }: Readonly<Job>) {
  const base = path === '/' ? '' : path;
  const folders = {
    ISTORE_CONF_DIR: `${base}/Configs`,
    ISTORE_CACHE_DIR: `${base}/Caches`,
    ISTORE_PUBLIC_DIR: `${base}/Public`,
    ISTORE_DL_DIR: `${base}/Public/Downloads`,
  };
  return {
    ISTORE_AUTOCONF: subject,
    ...(path === '' ? {} : folders),
    ...(isOff(enable) ? { ISTORE_DONT_START: '1' } : {}),
  };
}
