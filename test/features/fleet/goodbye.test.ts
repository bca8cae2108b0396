import { beforeEach, expect, test } from 'vitest';

import type { FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';
import type { StandIn } from './stand-in.ts';

/** An owner who switches the fleet off is no device that is broken. */
let server: StandIn;
let on: FleetDevice;

shareFleetDevice({}, (...shared) => ([server, on] = shared));
beforeEach(async () => {
  await turn('1');
  await on.poll();
});

const attributes = (): Promise<Record<string, string>> => server.attributes(on.id);
const turn = (enable: '0' | '1'): Promise<Response> =>
  on.daemon.post('admin/fleet/switch', { enable });

test('the server hears that the owner switched it off, then nothing, and of the way back', async () => {
  await turn('0');
  await expect.poll(attributes).toMatchObject({ fleet: 'switched off by the owner' });
  expect(await attributes()).toHaveProperty('arch');
  const before = server.requests.length;
  await expect(on.poll()).resolves.toBeDefined();
  expect(server.requests.length).toBe(before);

  await turn('1');
  await on.poll();

  expect(await attributes()).not.toHaveProperty('fleet');
  expect(await attributes()).toHaveProperty('arch');
});

test('a server that does not answer holds nobody up who switches it off', async () => {
  server.intercept = () => true;
  const startMs = performance.now();

  const status = (await (await turn('0')).json()) as { is_on: boolean };

  expect(status.is_on).toBe(false);
  expect(performance.now() - startMs).toBeLessThan(2000);
});
