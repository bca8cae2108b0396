import { describe, expect, test } from 'vitest';

import { createFleetDevice, ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import type { FleetServer } from './fleet-server.ts';
import { createHawkbit } from './hawkbit.ts';
import { createStandIn } from './stand-in.ts';

/**
 * A rollout in three groups over real daemons: as many as `FLEET_DAEMONS` says, by default six at
 * the stand-in, and 20 at a real hawkBit, whose address is `HAWKBIT`.
 */
const SERVERS: [string, number, () => Promise<FleetServer>][] = [
  ['the stand-in', daemonsOr(6), createStandIn],
];
const url = process.env.HAWKBIT;
if (url !== undefined) {
  SERVERS.push(['hawkBit', daemonsOr(20), () => Promise.resolve(createHawkbit(url))]);
}
const DAEMON_LIMIT_MS = 60_000;
const ROLLOUT_LIMIT_MS = 240_000;
/** Polls at a time: so many devices are no herd. */
const AT_ONCE = 4;

function daemonsOr(usual: number): number {
  return Number(process.env.FLEET_DAEMONS ?? usual);
}

describe.each(SERVERS)('a rollout of %s', (_, count, createServer) => {
  test(
    `reaches ${count} daemons by groups, and one that fails stops behind its canaries, and leaves nothing half`,
    { timeout: ROLLOUT_LIMIT_MS * 2 + count * DAEMON_LIMIT_MS },
    async () => {
      const server = await createServer();
      const run = `rollout-${Date.now().toString(36)}`;
      const all: FleetDevice[] = [];
      try {
        for (let index = 0; index < count; index += 1) {
          const id = `${run}-${String(index).padStart(3, '0')}`;
          all.push(await createFleetDevice(server, { id }));
        }
        await expectSuccess(server, all, run);
        await expectStop(server, all, run);
      } finally {
        for (const on of all) await on.close();
        await server.close();
      }
    },
  );
});

async function expectSuccess(
  server: FleetServer,
  all: readonly FleetDevice[],
  run: string,
): Promise<void> {
  const set = await server.publish([moduleOf(ipk('good'))]);
  const rollout = await server.rollOut(set, { targets: all.map(({ id }) => id), name: `${run}-a` });

  expect(await followRollout(rollout.status, all)).toBe('finished');

  for (const on of all) expect((await on.device.database()).get('good')?.state).toBe('installed');
}

async function expectStop(
  server: FleetServer,
  all: readonly FleetDevice[],
  run: string,
): Promise<void> {
  const bad = ipk('zbad', { scripts: { postinst: '#!/bin/sh\necho broken >&2\nexit 1\n' } });
  const newer = ipk('good', { version: '9.0-1' });
  const set = await server.publish([moduleOf(ipk('fine'), newer, bad)]);
  const before = await Promise.all(all.map(versions));
  const rollout = await server.rollOut(set, { targets: all.map(({ id }) => id), name: `${run}-b` });

  expect(await followRollout(rollout.status, all)).toBe('paused');

  // Devices of the group that runs go on.
  for (let polls = 0; polls < 6; polls += 1) await pollAll(all);
  // What a task of theirs began is put right by then.
  await expect
    .poll(() => Promise.all(all.map(versions)), { timeout: DAEMON_LIMIT_MS })
    .toEqual(before);
  const states = await Promise.all(all.map((on) => on.status()));
  const failed = states.filter(({ action }) => action?.result === 'failure');
  expect(failed.length).toBeGreaterThan(0);
  expect(failed.length).toBeLessThanOrEqual(Math.ceil(all.length * 0.2));
}

/** @returns how it ended: `finished` or `paused` */
async function followRollout(
  status: () => Promise<string>,
  all: readonly FleetDevice[],
): Promise<string> {
  const deadline = performance.now() + ROLLOUT_LIMIT_MS;
  for (;;) {
    await pollAll(all);
    const now = await status();
    if (now === 'finished' || now === 'paused') return now;
    if (performance.now() > deadline) throw new Error(`the rollout is still ${now}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function pollAll(all: readonly FleetDevice[]): Promise<void> {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    await Promise.all(all.slice(from, from + AT_ONCE).map((on) => on.poll()));
  }
}

async function versions({ device }: FleetDevice): Promise<unknown> {
  return [...(await device.database())].map(([name, { version, state }]) => [name, version, state]);
}
