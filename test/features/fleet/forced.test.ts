import { describe, expect, test } from 'vitest';

import { ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import type { Assignment, FleetServer } from './fleet-server.ts';
import { SERVERS } from './hawkbit.ts';
import { shareDeviceOf } from './shared-device.ts';

describe.each(SERVERS)('a device of %s whose owner is asked', (_, createServer) => {
  let server: FleetServer;
  let on: FleetDevice;

  const id = `asked-${Date.now().toString(36)}`;
  shareDeviceOf(
    createServer,
    { id, set: ['fleet.confirm=ask'] },
    (...shared) => ([server, on] = shared),
  );

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
