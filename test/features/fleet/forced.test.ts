import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createFleetDevice, ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import type { Assignment, FleetServer } from './fleet-server.ts';
import { createHawkbit } from './hawkbit.ts';
import { createStandIn } from './stand-in.ts';

/** Against the stand-in, and against a real hawkBit if `HAWKBIT` is its address. */
const SERVERS: [string, () => Promise<FleetServer>][] = [['the stand-in', createStandIn]];
const url = process.env.HAWKBIT;
if (url !== undefined) SERVERS.push(['hawkBit', () => Promise.resolve(createHawkbit(url))]);

describe.each(SERVERS)('a device of %s whose owner is asked', (_, createServer) => {
  let server: FleetServer;
  let on: FleetDevice;

  beforeEach(async () => {
    server = await createServer();
    const id = `asked-${Date.now().toString(36)}`;
    on = await createFleetDevice(server, { id, set: ['fleet.confirm=ask'] });
  });
  afterEach(async () => {
    await on.close();
    await server.close();
  });

  const offer = async (how: Assignment): Promise<string> =>
    server.assign(await server.publish([moduleOf(ipk('one'))]), on.id, how);
  const isInstalled = async (): Promise<boolean> => (await on.device.database()).has('one');
  const asked = async (action: string): Promise<void> => {
    await on.until(action, (__, { action: shown }) => shown?.state === 'asking');
    await on.poll();
    expect(await isInstalled()).toBe(false);
  };

  test('installs a soft action that is made a forced one, without the answer', async () => {
    const action = await offer({ type: 'soft' });
    await asked(action);

    await server.force(on.id, action);

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(await isInstalled()).toBe(true);
  });

  test('installs a timeforced action when its time has come, without the answer', async () => {
    const forcedAt = Date.now() + 12_000;
    const action = await offer({ type: 'timeforced', forcedAt });
    await asked(action);

    expect(await on.over(action)).toMatchObject({ status: 'finished' });
    expect(Date.now()).toBeGreaterThanOrEqual(forcedAt);
    expect(await isInstalled()).toBe(true);
  });
});
