import { join } from 'node:path';
import { fileVersion } from '../../device/file-version.ts';
import type { FeatureContext } from '../feature.ts';
import type { Job } from '../../jobs/job.ts';
import type { CommandStep } from '../../jobs/plan.ts';
import {
  EXPLAINED_BYTES,
  failureError,
  lastWords,
  plainLines,
} from '../../package-management/failure.ts';
import { isOff } from '../../http/parameter-schemas.ts';

/** Where the scripts that configure apps are, and what they get. */
export type ScriptContext = Pick<FeatureContext, 'paths' | 'scriptEnvironment'>;

/** Runs the script that configures the app. It fails the job if there is none, or if it fails. */
export function autoconfStep({ paths, scriptEnvironment }: ScriptContext): CommandStep {
  return {
    id: 'configure',
    label: 'configure',
    mustSucceed: true,
    command: async ({ job }) => {
      const file = join(paths.autoconfDir, `${job.subject}.sh`);
      const environment = { ...scriptEnvironment, ...autoconfEnvironment(job) };
      const isFile = (await fileVersion(file)) !== undefined;
      if (isFile) return { argv: ['/bin/sh', file], environment };
      throw failureError(`configure ${job.subject}`, {
        code: 'not_found',
        package: job.subject,
        reason: 'it has no configuration script',
        remedy: 'Install the app first; some apps are configured on their own page alone.',
      });
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
