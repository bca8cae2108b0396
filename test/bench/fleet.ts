import type { Socket } from 'node:net';

import { createFleetDevice, ipk, moduleOf } from '../features/fleet/fleet-device.ts';
import { createStandIn, type StandIn } from '../features/fleet/stand-in.ts';
import { benchHawkbit } from './fleet/hawkbit.ts';
import { createHerd, pollOnce, update } from './fleet/herd.ts';
import { report, residentMb, timed } from './measures.ts';

/**
 * A fleet on one machine: `npm run bench:fleet [DEVICES]`. The stand-in keeps no database, so that
 * the figures are those of the devices' side: what a device costs, not what a hawkBit bears. That
 * takes a hawkBit's jar, which is started here: `HAWKBIT_JAR=FILE`, on H2 in memory, or with
 * `HAWKBIT_DB=postgresql`, as root, on a PostgreSQL of its own; `HAWKBIT_NODES=2` on one database.
 */
const { HAWKBIT_JAR: jar, HAWKBIT_DB: database, HAWKBIT_NODES: nodes = '1' } = process.env;
const DEVICES = Number(process.argv[2] ?? (jar === undefined ? 10_000 : 5000));
const AT_ONCE = 50;
const POLLS_A_DAY = 288;
const PACKAGE_BYTES = 100_000;

if (jar === undefined) {
  const server = await createStandIn();
  try {
    await benchHerd(server);
    await benchDevice(server);
  } finally {
    await server.close();
  }
} else {
  await benchHawkbit({
    jar,
    nodes: Number(nodes),
    hasPostgres: database === 'postgresql',
    devices: DEVICES,
    updates: Math.min(DEVICES, 500),
    pollS: 300,
    daemons: 20,
  });
}

/** All simulated devices poll, and then all of them get an update. */
async function benchHerd(standIn: StandIn): Promise<void> {
  const tokens = new Map<string, string>();
  for (let index = 0; index < DEVICES; index += 1) {
    tokens.set(`herd-${index}`, await standIn.addTarget(`herd-${index}`));
  }
  const herd = createHerd(tokens, { urls: [standIn.url], tenant: standIn.tenant });
  const polls = await timed(() => herd.each(herd.ids, AT_ONCE, pollOnce));
  report('polls of a herd', {
    devices: DEVICES,
    'at once': AT_ONCE,
    'polls a second': DEVICES / (polls.ms / 1000),
  });
  const set = await standIn.publish([moduleOf(ipk('herd'))]);
  const before = standIn.requests.length;
  const updates = await timed(() =>
    herd.each(herd.ids, AT_ONCE, async (client, id) => {
      await standIn.assign(set, id);
      await update(client);
    }),
  );
  report('updates of a herd', {
    devices: DEVICES,
    'updates a second': DEVICES / (updates.ms / 1000),
    'requests a device': (standIn.requests.length - before) / DEVICES,
  });
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
