import { join } from 'node:path';
import { valuesOf } from '../../config/config.ts';
import { isEnded, type Job } from '../../jobs/job.ts';
import type { FeatureContext } from '../feature.ts';
import type { PackageTools } from '../../package-management/package-tools.ts';
import { createAgent } from './agent/agent.ts';
import { configData } from './agent/device-attributes.ts';
import { createKnown, type Fleet, type Server } from './agent/fleet.ts';
import { FLEET_JOB, SELF_UPGRADE_JOB } from './agent/action-jobs.ts';
import { createDdiClient } from './ddi/ddi-client.ts';
import { createConnection } from './ddi/ddi-connection.ts';
import { readCredentials } from './ddi/ddi-credentials.ts';
import { createBaseline } from './job/baseline.ts';
import { createKeptPackages } from '../../package-management/transaction/kept-packages.ts';
import { fleetPlan } from './job/action-plan.ts';
import type { FleetJobTools } from './job/fleet-job-tools.ts';
import { fleetMetrics } from './metrics.ts';
import { FLEET_SECTION, type FleetSettings } from './options.ts';
import { createDownloads } from './records/downloads.ts';
import { openRecords } from './records/action-records.ts';
import { addressKey } from './rollout/action-key.ts';

export type OpenFleet = Awaited<ReturnType<typeof openFleet>>;

interface FleetOptions {
  /** The name of this device at its server. */
  controllerId: (settings?: FleetSettings) => Promise<string>;
  checks: Fleet['checks'];
}

/** All of the fleet that is loaded once there is a server, or a job of one. */
export async function openFleet(
  context: FeatureContext,
  tools: PackageTools,
  { controllerId, checks }: FleetOptions,
) {
  const { paths, config, queue } = context;
  const settings = () => valuesOf(config(), FLEET_SECTION);
  const folder = join(paths.stateDir, 'fleet');
  const records = await openRecords(join(folder, 'actions'));
  const downloads = createDownloads(join(paths.uploadDir, 'fleet'));
  const connect: Fleet['connect'] = async (asked = settings(), limits = {}): Promise<Server> => {
    const { server, tenant } = asked;
    const address = { server, tenant, controllerId: await controllerId(asked) };
    const { tls, ...files } = await readCredentials(asked);
    const { token, answerMs } = limits;
    const authorization = token === undefined ? files.authorization : `TargetToken ${token}`;
    const connection = createConnection(server, { authorization, tls }, answerMs);
    const client = createDdiClient(address, connection);
    return { client, address, from: addressKey(address) };
  };
  const fleet: Fleet = {
    ...context,
    settings,
    checks,
    maxDownloadMb: () => config().main.upload_max_mb,
    manager: tools.manager,
    records,
    downloads,
    known: createKnown(),
    connect,
    wake: () => agent.wake(),
    replan: () => agent.replan(),
  };
  const agent = createAgent(fleet);
  const stopWatching = queue.onChange(({ kind, state }) => {
    if ([FLEET_JOB, SELF_UPGRADE_JOB].includes(kind) && isEnded(state)) agent.wake();
  });
  const jobTools: FleetJobTools = {
    ...fleet,
    ...tools,
    stop: queue.stop,
    reach: async (token) => {
      const { client } = await connect(settings(), { answerMs: 10_000, token });
      await client.poll(undefined).finally(client.close);
    },
    attributes: () => configData(fleet, ''),
    baseline: createBaseline(join(folder, 'before.json')),
    kept: createKeptPackages(join(folder, 'kept'), { manager: tools.manager, paths }),
  };
  return {
    agent,
    fleet,
    plan: (job: Job) => fleetPlan(jobTools, job),
    metrics: () => fleetMetrics(agent, fleet),
    close: async (): Promise<void> => {
      stopWatching();
      await agent.close();
    },
  };
}
