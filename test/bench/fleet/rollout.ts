import { setTimeout as delay } from 'node:timers/promises';

import {
  createFleetDevice,
  ipk,
  moduleOf,
  type FleetDevice,
} from '../../features/fleet/fleet-device.ts';
import type { FleetServer } from '../../features/fleet/fleet-server.ts';
import { median, report } from '../measures.ts';
import { requestsAnUpdate, type Relay } from './relay.ts';

const LIMIT_MS = 600_000;
const GOOD = ipk('good');
const BAD = ipk('zbad', { scripts: { postinst: '#!/bin/sh\nexit 1\n' } });

/**
 * Real daemons by their own timers: a rollout in three groups, and one of a bad set, which has to
 * stop behind its canaries and leave every device as it was.
 */
export async function benchRollouts(
  server: FleetServer,
  relay: Relay,
  count: number,
): Promise<void> {
  const run = `bench-${Date.now().toString(36)}`;
  const all: FleetDevice[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      const on = await createFleetDevice(server, { id: `${run}-${index}` });
      all.push(on);
      // The first poll may be a while away; those after it come by their timers.
      await on.poll();
      progress(`daemon ${index + 1} of ${count}`);
    }
    const targets = all.map(({ id }) => id);
    const rollOut = async (name: string, modules: Parameters<typeof moduleOf>): Promise<void> => {
      const from = relay.requests.length;
      const begun = performance.now();
      const set = await server.publish([moduleOf(...modules)]);
      const rollout = await server.rollOut(set, { name: `${run} ${name}`, targets });
      let status = 'starting';
      while (['starting', 'running'].includes(status) && performance.now() - begun < LIMIT_MS) {
        await delay(500);
        status = await rollout.status();
        progress(`${name}: ${status}, ${updatesSince(relay, from).length} asked for it`);
      }
      const seconds = (performance.now() - begun) / 1000;
      // Devices of the group that runs go on, and a last poll of each asks for its attributes.
      await delay(60_000);
      const updates = updatesSince(relay, from);
      report(`rollout of ${name}`, {
        daemons: count,
        ended: status,
        s: seconds,
        'asked for it': updates.length,
        'requests an update': median(updates.map(({ length }) => length)),
        'at most': Math.max(...updates.map(({ length }) => length)),
        ...(await databases(all)),
      });
      process.stdout.write(`  one of them: ${updates[0]?.join(', ') ?? ''}\n`);
    };
    await rollOut('a good set', [GOOD]);
    await rollOut('a bad set', [ipk('fine'), BAD]);
  } finally {
    for (const on of all) await on.close();
  }
}

function updatesSince({ requests }: Relay, from: number): string[][] {
  return requestsAnUpdate({ requests: requests.slice(from) });
}

let said = '';
/** What is new of it, with the seconds since the start: a rollout takes minutes. */
function progress(text: string): void {
  if (text === said) return;
  said = text;
  process.stdout.write(`  ${process.uptime().toFixed(0)} s: ${text}\n`);
}

async function databases(all: readonly FleetDevice[]): Promise<Record<string, number>> {
  const each = await Promise.all(all.map(({ device }) => device.database()));
  const count = (name: string): number => each.filter((database) => database.has(name)).length;
  return { 'have good': count('good'), 'have fine': count('fine'), 'have zbad': count('zbad') };
}
