import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { createStoreDevice, type StoreDevice } from '../self-upgrade/self-upgrade-device.ts';
import { ipk, moduleOf, planOf, type FleetStatus } from './fleet-device.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

/** An action that replaces the daemon that does it. */
let server: StandIn;
let on: StoreDevice;
const ID = 'itself';

beforeEach(async () => {
  server = await createStandIn();
  const token = await server.addTarget(ID);
  on = await createStoreDevice(async (root) => {
    const file = join(root, 'fleet-token');
    await writeFile(file, token, { mode: 0o600 });
    return [
      `fleet.server=${server.url}`,
      `fleet.controller_id=${ID}`,
      `fleet.token_file=${file}`,
      'fleet.allow=install',
      'fleet.allow=self_upgrade',
    ];
  });
});
afterEach(async () => {
  await on.close();
  await server.close();
});

/** The daemon may be between two versions. */
async function poll(): Promise<void> {
  const { token } = (await on.get('store/token')) as { token: string };
  const path = `/cgi-bin/panel/admin/fleet/poll?token=${token}`;
  await fetch(`${on.url}${path}`, { method: 'POST' }).catch(() => undefined);
}
async function over(action: string): Promise<string> {
  await expect
    .poll(async () => (await poll(), (await server.action(ID, action)).isActive), {
      timeout: 60_000,
      interval: 200,
    })
    .toBe(false);
  return (await server.action(ID, action)).status;
}
const counted = ipk('one', {
  scripts: { postinst: '#!/bin/sh\necho one >> "$IPKG_INSTROOT/count"\n' },
});
const SET = [moduleOf(counted), planOf({ version: 1, self_upgrade: true })];
const status = async (): Promise<FleetStatus> => (await on.get('fleet/status')) as FleetStatus;
const selfUpgrades = async (): Promise<number> =>
  ((await on.device.read('etc/depotd/jobs.jsonl')) ?? '')
    .split('\n')
    .filter((line) => line.includes('"kind":"self-upgrade"') && line.includes('"stoppedAt"'))
    .length;

test('the new daemon reports the end of the action that brought it, once, and all is installed once', async () => {
  await on.offer('2.0-1', 'good');
  const action = await server.assign(await server.publish(SET), ID);

  expect(await over(action)).toBe('finished');

  expect(await on.version()).toBe('2.0-1');
  expect(await on.device.read('count')).toBe('one\n');
  expect((await status()).action).toMatchObject({ result: 'success', is_reported: true });
  expect(await selfUpgrades()).toBe(1);
  const reported = server.requests.length;
  // The end of the upgrade has woken the agent, maybe behind the poll that has reported it.
  await poll();
  const asked = server.requests.length;
  await poll();
  const methods = server.requests.map((line) => line.split(' ')[0]);
  expect(methods.slice(reported)).not.toContain('POST');
  expect(methods.slice(asked)).toEqual(['GET']);
});

test('a daemon that is killed in the middle of it takes the action up, and reports one end', async () => {
  await on.offer('2.0-1', 'slow and good');
  const action = await server.assign(await server.publish(SET), ID);
  await expect
    .poll(async () => (await poll(), on.device.read('etc/depotd/self-upgrade/pending')), {
      timeout: 40_000,
    })
    .toBe('');
  await on.restartDaemon();

  expect(await over(action)).toBe('finished');
  expect(await on.version()).toBe('2.0-1');
  expect(await on.device.read('count')).toBe('one\n');
});

test('a new daemon that does not start is replaced by the old one, which reports the failure', async () => {
  await on.offer('2.0-1', 'exits');
  const action = await server.assign(await server.publish(SET), ID);

  expect(await over(action)).toBe('error');

  expect(await on.version()).toBe('1.0-1');
  const { messages } = await server.action(ID, action);
  expect(messages.join('\n')).toContain('the old one is put back');
});

test('with a clock that is at 1970, an upgrade of before is not taken for that of the action', async () => {
  const at1970 = 'const now=Date.now;Date.now=()=>now()-1.7e12';
  await on.offer('1.5-1', 'good', ['--import', `data:text/javascript,${at1970}`]);
  const { task_id: id = '' } = await on.post('do_self_upgrade');
  expect(await on.finished(id)).toMatchObject({ state: 'done' });
  await on.offer('2.0-1', 'good');

  const action = await server.assign(await server.publish(SET), ID);

  expect(await over(action)).toBe('finished');
  expect(await on.version()).toBe('2.0-1');
});
