import { describe, expect, test } from 'vitest';

import { timed } from '../../bench/measures.ts';
import { createFleetDevice, ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import type { FleetServer } from './fleet-server.ts';
import { createHawkbit } from './hawkbit.ts';
import { createStandIn } from './stand-in.ts';

/**
 * A daemon that is killed at moments spread over an action, as many as `FLEET_KILLS` says: by
 * default five at the stand-in, and 100 at a real hawkBit, whose address is `HAWKBIT`. How long an
 * action takes is measured by one that nobody disturbs.
 */
const SERVERS: [string, number, () => Promise<FleetServer>][] = [
  ['the stand-in', killsOr(5), createStandIn],
];
const url = process.env.HAWKBIT;
if (url !== undefined) {
  SERVERS.push(['hawkBit', killsOr(100), () => Promise.resolve(createHawkbit(url))]);
}
/** Two packages take longer than one. */
const BEYOND = 1.5;
const ACTION_LIMIT_MS = 60_000;

function killsOr(usual: number): number {
  return Number(process.env.FLEET_KILLS ?? usual);
}

describe.each(SERVERS)('a daemon of %s', (_, kills, createServer) => {
  test(
    `that is killed at ${kills} moments installs each set once, and reports one success`,
    { timeout: kills * ACTION_LIMIT_MS },
    async () => {
      const server = await createServer();
      const id = `killed-${Date.now().toString(36)}`;
      const on = await createFleetDevice(server, { id, set: ['main.keep_jobs=300'] });
      const states: Record<string, number> = {};
      try {
        const plain = await server.publish([moduleOf(counted('plain', 'sleep 0.2'))]);
        const { ms } = await timed(async () => on.over(await server.assign(plain, on.id)));
        for (let index = 0; index < kills; index += 1) {
          const state = await killOnce(server, on, { index, atMs: (index / kills) * ms * BEYOND });
          states[state] = (states[state] ?? 0) + 1;
        }
      } finally {
        await on.close();
        await server.close();
      }
      console.info(`killed ${kills} times, by the state of the action: ${JSON.stringify(states)}`);
    },
  );
});

/** @returns the state in which the action was when the daemon was killed */
async function killOnce(
  server: FleetServer,
  on: FleetDevice,
  { index, atMs }: { index: number; atMs: number },
): Promise<string> {
  const names = [`killed-${index}`, `killed-${index}-too`] as const;
  const [first, second] = [counted(names[0], 'sleep 0.2'), counted(names[1], '', names[0])];
  const action = await server.assign(await server.publish([moduleOf(first, second)]), on.id);
  const moment = new AbortController();
  const killed = new Promise((resolve) => setTimeout(resolve, atMs)).then(async () => {
    const { action: shown } = await on.status().catch(() => ({ action: undefined }));
    await on.daemon.kill('SIGKILL');
    moment.abort();
    return shown?.id === action ? shown.state : 'unseen';
  });
  while (!moment.signal.aborted) {
    await on.poll().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  const state = await killed;
  await on.daemon.restart();

  expect(await overAfterRestart(on, action), `killed ${atMs} ms behind the offer`).toMatchObject({
    status: 'finished',
  });
  await on.poll();
  const lines = ((await on.device.read('count')) ?? '').split('\n');
  expect(lines.filter((line) => names.some((name) => name === line))).toEqual(names);
  const database = await on.device.database();
  expect(names.map((name) => database.get(name)?.state)).toEqual(['installed', 'installed']);
  return state;
}

/**
 * A pooled connection to the daemon that was killed breaks once, if the new one has its port. The
 * new one must be the one that was started.
 */
async function overAfterRestart(on: FleetDevice, action: string): Promise<unknown> {
  const { pid } = on.daemon;
  const state = await on.over(action).catch((error: unknown) => {
    if (error instanceof TypeError) return on.over(action);
    throw error;
  });
  process.kill(pid, 0);
  return state;
}

function counted(name: string, more = '', depends?: string): ReturnType<typeof ipk> {
  return ipk(name, {
    ...(depends === undefined ? {} : { fields: { Depends: depends } }),
    scripts: { postinst: `#!/bin/sh\necho ${name} >> "$IPKG_INSTROOT/count"\n${more}\n` },
  });
}
