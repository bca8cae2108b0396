import { access, constants } from 'node:fs/promises';
import { createDeviceId, storeId } from './device-id.ts';
import { deviceRoutes } from './device-routes.ts';
import { identityRoutes } from './identity-routes.ts';
import { processMetrics } from './process-metrics.ts';
import { systemRoutes } from './routes.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { VERSION } from '../../config/environment.ts';
import { reasonOf } from '../../errors.ts';

export interface SystemFeature extends Feature {
  /** The device's own id, for other features. */
  deviceId: () => Promise<string>;
}

/** The daemon and the device themselves: events, health, figures, the interface's description. */
export function createSystemFeature(
  context: FeatureContext,
  manager: { name: string; architecture: () => Promise<string>; watchedFolders: readonly string[] },
): SystemFeature {
  const { events, stopping, notes, paths } = context;
  const { architecture, watchedFolders } = manager;
  const deviceId = createDeviceId(notes);
  const identity = {
    storeId: () => storeId(paths.onDevice('/etc/.app_store.id'), deviceId),
    architecture,
    version: VERSION,
  };
  return {
    deviceId,
    documentation: async () => (await import('./documentation.ts')).SYSTEM_DOCUMENTATION,
    routes: ({ config: { main }, overview }) => [
      ...identityRoutes(identity),
      ...deviceRoutes({ paths, manager, version: VERSION, overview }),
      ...systemRoutes({
        ...{ version: VERSION, base: main.base, isOpen: main.auth === 'none' },
        ...{ overview, events, stopping },
      }),
    ],
    health: async () => ({ problems: await findProblems(context) }),
    checks: async () => (await import('./checks/checks.ts')).systemChecks(context, watchedFolders),
    metrics: () => processMetrics(VERSION),
  };
}

async function findProblems({ paths, stopping }: FeatureContext): Promise<string[]> {
  const problems = stopping.aborted ? ['the daemon is stopping'] : [];
  for (const folder of [paths.stateDir, paths.logDir]) {
    await access(folder, constants.W_OK).catch((error: unknown) =>
      problems.push(`cannot write to ${folder}: ${reasonOf(error)}`),
    );
  }
  return problems;
}
