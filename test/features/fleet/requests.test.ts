import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';

import { ipk, moduleOf, type FleetDevice } from './fleet-device.ts';
import { shareFleetDevice } from './shared-device.ts';
import { ofDownloads, type StandIn } from './stand-in.ts';

let server: StandIn;
let on: FleetDevice;

shareFleetDevice({}, (...shared) => ([server, on] = shared));
beforeEach(async () => {
  await on.poll();
});

/** hawkBit asks for the attributes after each success: with that, and its answer, it is one more. */
const MOST = 7;

test(`an update from its poll to its end, and what follows that, costs ${MOST} requests`, async () => {
  const action = await on.rollOut(moduleOf(ipk('one')));
  const before = server.requests.length;
  await on.poll();
  await expect
    .poll(async () => (await server.action(on.id, action)).status, { timeout: 20_000 })
    .toBe('finished');
  // What is sent with the end follows it at once, and nothing follows that.
  await expect.poll(() => server.requests.length - before).toBe(MOST);
  await delay(1000);

  expect(server.requests.slice(before)).toHaveLength(MOST);
});

test('an action that is given up while its files come is not begun', async () => {
  let isAsked = false;
  server.intercept = ofDownloads((request, response) => {
    isAsked = true;
    setTimeout(() => server.pass(request, response), 1000);
  });
  const action = await on.rollOut(moduleOf(ipk('two')));
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
  const action = await on.rollOut(moduleOf(ipk('three')));
  expect((await on.poll()).last_error).toContain('the fleet server answered 500');
  server.intercept = undefined;
  server.forget(action);

  const { last_error: error } = await on.poll();

  expect(error).toBeUndefined();
});
