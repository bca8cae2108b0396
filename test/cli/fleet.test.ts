import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  createFleetDevice,
  ipk,
  moduleOf,
  type FleetDevice,
} from '../features/fleet/fleet-device.ts';
import { createStandIn, type StandIn } from '../features/fleet/stand-in.ts';
import { runDepotctl } from './start-depotctl.ts';

let server: StandIn;
let on: FleetDevice;
const fleet = (...words: string[]): ReturnType<typeof runDepotctl> =>
  runDepotctl('--url', on.daemon.url, 'fleet', ...words);

beforeAll(async () => {
  server = await createStandIn();
  on = await createFleetDevice(server, { set: ['fleet.confirm=ask'] });
});
afterAll(async () => {
  await on.close();
  await server.close();
});

test.each(['confirm', 'decline'])('without an action fleet %s says so', async (word) => {
  const { code, stderr } = await fleet(word);

  expect([code, stderr]).toEqual([1, 'depotctl: cannot answer: the server asks for nothing\n']);
});

test('depotctl fleet shows the server, asks it, agrees to its action, and switches it off', async () => {
  const set = await server.publish([moduleOf(ipk('one'))]);
  const action = await server.assign(set, on.id, { type: 'soft' });
  expect((await fleet('poll')).stdout).toContain(server.url);
  await on.until(action, (_, { action: shown }) => shown?.state === 'asking');

  expect((await fleet()).stdout).toMatch(/state +asking/);
  expect((await fleet('confirm')).code).toBe(0);
  await on.over(action);
  expect((await fleet()).stdout).toMatch(/state +ended, success/);
  expect((await fleet('off')).stdout).toContain('no: switched off');
  expect(JSON.parse((await fleet('--json')).stdout)).toMatchObject({ is_on: false });
  expect((await fleet('poll')).stderr).toContain('switched off');
});

test.each([
  [['of'], 'on, off, poll, confirm or decline is expected'],
  [['on', 'x'], 'cannot run "fleet on" with 1 name'],
])('depotctl fleet %j ends with 2', async (words, complaint) => {
  const { code, stderr } = await fleet(...words);

  expect(code).toBe(2);
  expect(stderr).toContain(complaint);
});

test('the doctor tells of a server that cannot be reached', async () => {
  await fleet('on');
  await server.close();
  await on.poll();

  const answer = await on.daemon.get('admin/system/doctor');
  const { checks } = (await answer.json()) as { checks: { id: string }[] };
  expect(checks.find(({ id }) => id === 'fleet')).toMatchObject({
    state: 'warning',
    remedy: expect.stringContaining('fleet.server') as string,
  });
});
