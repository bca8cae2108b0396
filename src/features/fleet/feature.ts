import { valuesOf } from '../../config/config.ts';
import { DepotError, reasonOf } from '../../errors.ts';
import { isEnded } from '../../jobs/job.ts';
import type { Feature, FeatureContext, Overview } from '../feature.ts';
import { PACKAGE_LANE } from '../../package-management/manager.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { expandControllerId } from './controller-id.ts';
import { unixTimeOf } from './clock.ts';
import type { OpenFleet } from './open-fleet.ts';
import { FLEET_SECTION, type FleetSettings } from './options.ts';
import { fleetRoutes } from './routes.ts';

/** One of many devices of a server like hawkBit. Without `fleet.server` only routes are loaded. */
export async function createFleetFeature(
  context: FeatureContext,
  tools: PackageTools,
  deviceId: () => Promise<string>,
): Promise<Feature> {
  const { config, queue } = context;
  const settings = (): FleetSettings => valuesOf(config(), FLEET_SECTION);
  const controllerId = async ({ controller_id: wanted } = settings()): Promise<string> =>
    wanted === '' ? deviceId() : expandControllerId(wanted, context.paths);
  let opened: OpenFleet | undefined;
  const inUse = (): OpenFleet | undefined => (settings().server === '' ? undefined : opened);
  let overview: Overview | undefined;
  const checks = async () => (await overview?.checks()) ?? [];
  const open = async (): Promise<OpenFleet> => {
    const { openFleet } = await import('./open-fleet.ts');
    return (opened ??= await openFleet(context, tools, { controllerId, checks }));
  };
  // A job that an earlier daemon left goes on, whatever the configuration says now.
  const hasJob = queue.all().some(({ kind, state }) => kind === 'fleet' && !isEnded(state));
  if (settings().server !== '' || hasJob) await open();
  const begin = async (): Promise<void> => {
    if (settings().server === '') return;
    await (await open()).agent.start();
    const { readCredentials } = await import('./ddi/ddi-credentials.ts');
    await readCredentials(settings()).catch((error: unknown) =>
      context.log.warn({ reason: reasonOf(error) }, 'fleet server cannot be asked'),
    );
  };
  return {
    documentation: async () => (await import('./documentation.ts')).FLEET_DOCUMENTATION,
    routes: (served) => {
      ({ overview } = served);
      return fleetRoutes(inUse, () => controllerId().catch(() => settings().controller_id));
    },
    jobs: {
      fleet: {
        lane: PACKAGE_LANE,
        admit: tools.manager.assertUsable,
        title: (subject) => `roll out ${subject}`,
        plan: (job) => {
          if (opened !== undefined) return opened.plan(job);
          throw new DepotError('internal', 'cannot do the action: the fleet is not loaded');
        },
      },
    },
    health: () => Promise.resolve({ facts: { fleet: factsOf(inUse()) } }),
    metrics: () => (opened === undefined ? [] : opened.metrics()),
    checks: async () => (await import('./checks.ts')).fleetChecks(inUse),
    keepsUp: () => settings().server !== '',
    start: begin,
    reload: async () => {
      if (opened === undefined) await begin();
      else await opened.agent.reload();
    },
    close: async () => opened?.close(),
  };
}

/** Facts of /healthz that no stranger could use: anybody may ask for them. */
function factsOf(opened: OpenFleet | undefined): object {
  if (opened === undefined) return { configured: false };
  const { polledMs, failures } = opened.fleet.known;
  return {
    configured: true,
    on: opened.agent.isOn(),
    reachable: polledMs !== undefined && failures === 0,
    polled_at: polledMs && unixTimeOf(polledMs),
  };
}
