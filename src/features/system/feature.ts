import { createDeviceId, storeId } from './device-id.ts';
import { daemonRoutes, deviceRoutes } from './routes.ts';
import type { Feature, FeatureContext } from '../feature.ts';
import { VERSION } from '../../config/environment.ts';
import { writeFaults } from '../../device/is-there.ts';
import { counter, gauge, type Metric } from '../../http/metrics-text.ts';

/** The daemon and the device themselves: events, health, figures, the interface's description. */
export function createSystemFeature(
  context: FeatureContext,
  manager: { name: string; architecture: () => Promise<string>; watchedFolders: readonly string[] },
): Feature & { deviceId: () => Promise<string> } {
  const { events, stopping, notes, paths } = context;
  const deviceId = createDeviceId(notes);
  return {
    deviceId,
    documentation: async () => (await import('./documentation.ts')).SYSTEM_DOCUMENTATION,
    routes: ({ config: { main }, overview }) => {
      const tools = {
        ...{ version: VERSION, base: main.base, isOpen: main.auth === 'none' },
        ...{ paths, manager, overview, events, stopping },
        storeId: () => storeId(paths.onDevice('/etc/.app_store.id'), deviceId),
      };
      return [...deviceRoutes(tools), ...daemonRoutes(tools)];
    },
    health: async () => ({ problems: await findProblems(context) }),
    checks: async () =>
      (await import('./checks/checks.ts')).systemChecks(context, manager.watchedFolders),
    metrics: () => processMetrics(VERSION),
  };
}

async function findProblems({ paths, stopping }: FeatureContext): Promise<string[]> {
  const problems = stopping.aborted ? ['the daemon is stopping'] : [];
  return [...problems, ...(await writeFaults([paths.stateDir, paths.logDir]))];
}

/** The process's own figures, under the names that Prometheus clients use. */
function processMetrics(version: string): Metric[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const startedAt = Math.floor(Date.now() / 1000 - process.uptime());
  return [
    gauge('depotd_info', 'The version that runs.', [{ labels: { version }, value: 1 }]),
    gauge('process_resident_memory_bytes', 'Resident memory.', rss),
    gauge('nodejs_heap_size_used_bytes', 'What is in use of the JavaScript heap.', heapUsed),
    counter('process_cpu_seconds_total', 'Processor time, user and system.', (user + system) / 1e6),
    gauge('process_start_time_seconds', 'When the process started, in Unix seconds.', startedAt),
  ];
}
