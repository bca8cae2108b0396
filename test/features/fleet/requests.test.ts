import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createFleetDevice, ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

let server: StandIn;
let on: FleetDevice;

beforeAll(async () => {
  server = await createStandIn();
  on = await createFleetDevice(server);
  await on.poll();
});
afterAll(async () => {
  await on.close();
  await server.close();
});

/** hawkBit asks for the attributes after each success: with that, and its answer, it is one more. */
const MOST = 7;

test(`an update from its poll to its end, and what follows that, costs ${MOST} requests`, async () => {
  const set = await server.publish([moduleOf(ipk('one'))]);
  const action = await server.assign(set, on.id);
  const before = server.requests.length;
  await on.poll();
  await expect
    .poll(async () => (await server.action(on.id, action)).status, { timeout: 20_000 })
    .toBe('finished');
  // What is sent with the end follows it at once.
  await delay(1000);

  expect(server.requests.slice(before)).toHaveLength(MOST);
});

test('an action that is given up while its files come is not begun', async () => {
  let isAsked = false;
  server.intercept = (request, response) => {
    if (request.url?.includes('/artifacts/') !== true) return false;
    isAsked = true;
    setTimeout(() => server.pass(request, response), 1000);
    return true;
  };
  const set = await server.publish([moduleOf(ipk('two'))]);
  const action = await server.assign(set, on.id);
  await on.poll();
  await expect.poll(() => isAsked).toBe(true);
  await server.cancel(on.id, action);

  const { status } = await on.over(action);

  expect(status).toBe('canceled');
  expect((await on.device.database()).has('two')).toBe(false);
});

test('an action that could not be read and is given up by force is asked for no more', async () => {
  await on.poll();
  server.intercept = (request, response) => {
    if (request.url?.includes('/deploymentBase/') !== true) return false;
    response.writeHead(500).end();
    return true;
  };
  const action = await server.assign(await server.publish([moduleOf(ipk('three'))]), on.id);
  expect((await on.poll()).last_error).toContain('the fleet server answered 500');
  server.intercept = undefined;
  server.forget(action);

  const { last_error: error } = await on.poll();

  expect(error).toBeUndefined();
});
