import { once } from 'node:events';
import type { Socket } from 'node:net';

import { createDdiClient, type DdiClient } from '../../src/features/fleet/ddi/client.ts';
import { createConnection } from '../../src/features/fleet/ddi/connection.ts';
import { createFleetDevice, ipk, moduleOf } from '../features/fleet/fleet-device.ts';
import { createStandIn, type StandIn } from '../features/fleet/stand-in.ts';
import { report, residentMb, timed } from './measures.ts';

/**
 * A fleet on one machine: `npm run bench:fleet [DEVICES]`. The
 * stand-in keeps no database, so that the figures are those of the devices' side: what a device
 * costs, not what a hawkBit bears.
 */
const DEVICES = Number(process.argv[2] ?? 10_000);
const AT_ONCE = 50;
const POLLS_A_DAY = 288;
const PACKAGE_BYTES = 100_000;

const server = await createStandIn();
try {
  await benchHerd(server);
  await benchDevice(server);
} finally {
  await server.close();
}

/** All simulated devices poll, and then all of them get an update. */
async function benchHerd(standIn: StandIn): Promise<void> {
  const ids = Array.from({ length: DEVICES }, (_, index) => `herd-${index}`);
  const tokens = new Map<string, string>();
  for (const id of ids) tokens.set(id, await standIn.addTarget(id));
  const withClient = async (id: string, work: (client: DdiClient) => Promise<void>) => {
    const authorization = `TargetToken ${tokens.get(id) ?? ''}`;
    const connection = createConnection(standIn.url, { authorization, tls: {} });
    const address = { server: standIn.url, tenant: standIn.tenant, controllerId: id };
    const client = createDdiClient(address, connection);
    await work(client).finally(client.close);
  };
  const polls = await timed(() =>
    forAll(ids, (id) =>
      withClient(id, async (client) => {
        await client.poll(undefined);
      }),
    ),
  );
  report('polls of a herd', {
    devices: DEVICES,
    'at once': AT_ONCE,
    'polls a second': DEVICES / (polls.ms / 1000),
  });
  const set = await standIn.publish([moduleOf(ipk('herd'))]);
  const before = standIn.requests.length;
  const updates = await timed(() =>
    forAll(ids, async (id) => {
      const action = await standIn.assign(set, id);
      await withClient(id, (client) => update(client, action));
    }),
  );
  report('updates of a herd', {
    devices: DEVICES,
    'updates a second': DEVICES / (updates.ms / 1000),
    'requests a device': (standIn.requests.length - before) / DEVICES,
  });
}

/** The requests of an update, in the order of a device that installs within one poll. */
async function update(client: DdiClient, action: string): Promise<void> {
  const answer = await client.poll(undefined);
  const href = answer === 'unchanged' ? undefined : answer.poll._links?.deploymentBase?.href;
  if (href === undefined) throw new Error(`no action ${action}`);
  const { id, deployment } = await client.deployment(href);
  await client.report(id, { execution: 'download', finished: 'none' });
  for (const { _links: links } of deployment.chunks.flatMap(({ artifacts }) => artifacts)) {
    const file = links['download-http']?.href ?? '';
    const response = await client.download(file, 0, new AbortController().signal);
    await once(response.resume(), 'end');
  }
  await client.report(id, { execution: 'proceeding', finished: 'none' });
  await client.report(id, { execution: 'closed', finished: 'success' });
}

async function forAll(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) await work(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
}

/** One real daemon: what an update costs it, and its memory over a day of polls. */
async function benchDevice(standIn: StandIn): Promise<void> {
  const sockets = new Set<Socket>();
  standIn.intercept = ({ socket }) => {
    sockets.add(socket);
    return false;
  };
  const bytes = (): number =>
    [...sockets].reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0);
  const on = await createFleetDevice(standIn);
  try {
    await on.poll();
    const idle = { bytes: bytes(), requests: standIn.requests.length };
    await on.poll();
    report('one poll of a daemon', {
      requests: standIn.requests.length - idle.requests,
      bytes: bytes() - idle.bytes,
    });
    const content = Buffer.alloc(PACKAGE_BYTES, 'x').toString();
    const file = ipk('bench', { files: { '/usr/share/bench': content } });
    const set = await standIn.publish([moduleOf(file)]);
    const before = { bytes: bytes(), requests: standIn.requests.length };
    const action = await standIn.assign(set, on.id);
    // As its own timer would, and as the end of the job does.
    await on.poll();
    await waitForEnd(standIn, on.id, action);
    report('one update of a daemon', {
      requests: standIn.requests.length - before.requests,
      'bytes beside the file': bytes() - before.bytes - file.bytes.length,
    });
    const start = residentMb(on.daemon.pid);
    for (let polls = 0; polls < POLLS_A_DAY; polls += 1) await on.poll();
    report('a day of polls', {
      polls: POLLS_A_DAY,
      'MB before': start,
      'MB after': residentMb(on.daemon.pid),
      'MB at most': residentMb(on.daemon.pid, 'VmHWM'),
    });
  } finally {
    await on.close();
  }
}

async function waitForEnd(standIn: StandIn, target: string, action: string): Promise<void> {
  while ((await standIn.action(target, action)).isActive) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
