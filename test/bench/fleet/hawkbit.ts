import { setTimeout as delay } from 'node:timers/promises';

import { ipk, moduleOf } from '../../features/fleet/fleet-device.ts';
import { askHawkbit, createHawkbit } from '../../features/fleet/hawkbit.ts';
import { report, timed } from '../measures.ts';
import { startRelay } from './relay.ts';
import { createHerd, update, type Herd } from './herd.ts';
import { startNodes, type Nodes } from './nodes.ts';
import { benchRollouts } from './rollout.ts';

export interface HawkbitBench {
  jar: string;
  nodes: number;
  hasPostgres: boolean;
  /** Simulated devices, of which so many get an update, and how often each of them polls. */
  devices: number;
  updates: number;
  pollS: number;
  daemons: number;
}

const AT_ONCE = 16;
const MOST_AT_A_TIME = 250;
const STEADY_MS = 60_000;

/** Starts a hawkBit, measures it, and ends it. */
export async function benchHawkbit(bench: HawkbitBench): Promise<void> {
  const { value: nodes, ms } = await timed(() =>
    startNodes(bench.jar, bench.nodes, bench.hasPostgres),
  );
  try {
    const name = `hawkBit, ${bench.hasPostgres ? 'PostgreSQL' : 'H2'}`;
    report(name, { nodes: bench.nodes, 'ready after s': ms / 1000 });
    await measure(nodes, bench);
  } finally {
    await nodes.close();
  }
}

/** What polls and updates cost a hawkBit, and rollouts over real daemons beside the polls. */
export async function measure(
  nodes: Nodes,
  { devices, pollS, daemons, updates }: Omit<HawkbitBench, 'jar' | 'nodes' | 'hasPostgres'>,
): Promise<void> {
  const relay = await startRelay(nodes.urls);
  try {
    const [url = ''] = nodes.urls;
    const { value: tokens, ms } = await timed(() => addTargets(url, devices));
    report('simulated devices', { count: devices, 'made in s': ms / 1000 });
    const herd = createHerd(tokens, { urls: nodes.urls, tenant: 'DEFAULT' });
    await benchSteady('polls, just started', { nodes, herd, pollS });
    const stop = herd.pollEach(pollS * 1000);
    if (daemons > 0) await benchRollouts({ ...createHawkbit(url), url: relay.url }, relay, daemons);
    const beside = await stop();
    report('polls beside them', { answered: beside.latenciesMs.length, failed: beside.failed });
    await benchSteady('polls, warm', { nodes, herd, pollS });
    await benchUpdates(nodes, herd, updates);
  } finally {
    relay.close();
  }
}

async function addTargets(url: string, count: number): Promise<Map<string, string>> {
  const run = Date.now().toString(36);
  const tokens = new Map<string, string>();
  while (tokens.size < count) {
    const some = Array.from(
      { length: Math.min(MOST_AT_A_TIME, count - tokens.size) },
      (_, index) => {
        const controllerId = `herd-${run}-${tokens.size + index}`;
        return { controllerId, name: controllerId };
      },
    );
    const made = (await askHawkbit(url)('POST', '/targets', some)) as {
      controllerId: string;
      securityToken: string;
    }[];
    for (const { controllerId, securityToken } of made) tokens.set(controllerId, securityToken);
  }
  return tokens;
}

/** All poll, spread over their interval. */
async function benchSteady(
  name: string,
  { nodes, herd, pollS }: { nodes: Nodes; herd: Herd; pollS: number },
): Promise<void> {
  const before = nodes.cpu();
  const stop = herd.pollEach(pollS * 1000);
  await delay(STEADY_MS);
  const { failed, latenciesMs } = await stop();
  const { nodes: used, database } = nodes.cpu();
  const at = (share: number): number => latenciesMs[Math.floor(latenciesMs.length * share)] ?? NaN;
  report(name, {
    'a second': herd.ids.length / pollS,
    answered: latenciesMs.length,
    failed,
    'p50 ms': at(0.5),
    'p95 ms': at(0.95),
    'node CPU ms a poll': ((used - before.nodes) * 1000) / latenciesMs.length,
    'database CPU ms': ((database - before.database) * 1000) / latenciesMs.length,
    'cores of nodes': ((used - before.nodes) * 1000) / STEADY_MS,
    'MB resident': nodes.residentMb(),
  });
}

/** A set for many of the herd at once. */
async function benchUpdates(nodes: Nodes, herd: Herd, count: number): Promise<void> {
  const [url = ''] = nodes.urls;
  const ids = herd.ids.slice(0, count);
  const set = await createHawkbit(url).publish([moduleOf(ipk('herd'))]);
  await costOf(nodes, { name: 'assignments', count: count }, async () => {
    for (let from = 0; from < count; from += MOST_AT_A_TIME) {
      const some = ids.slice(from, from + MOST_AT_A_TIME).map((id) => ({ id, type: 'forced' }));
      await askHawkbit(url)('POST', `/distributionsets/${set}/assignedTargets`, some);
    }
  });
  await costOf(nodes, { name: 'updates', count: count }, () => herd.each(ids, AT_ONCE, update));
}

async function costOf(
  nodes: Nodes,
  { name, count }: { name: string; count: number },
  work: () => Promise<void>,
): Promise<void> {
  const before = nodes.cpu();
  const { ms } = await timed(work);
  const { nodes: used, database } = nodes.cpu();
  report(name, {
    count,
    'a second': count / (ms / 1000),
    'node CPU ms each': ((used - before.nodes) * 1000) / count,
    'database CPU ms each': ((database - before.database) * 1000) / count,
  });
}
