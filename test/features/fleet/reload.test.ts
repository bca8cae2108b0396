import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { ipk, moduleOf, planOf, type FleetStatus } from './fleet-device.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

/** Options of the fleet that change while the daemon runs: SIGHUP, as `reload` sends it. */
let servers: StandIn[];
let device: Device;
let daemon: TestDaemon;
const ID = 'reloaded';

const inDevice = (path: string): string => join(device.root, path);
const first = (): StandIn => servers[0] as StandIn;

async function configure(lines: readonly string[]): Promise<void> {
  const options = lines.map((line) => `\t${line}\n`).join('');
  await writeFile(inDevice('etc/config/depotd'), `config depotd 'fleet'\n${options}`);
}
async function joined(server: StandIn, ...more: string[]): Promise<string[]> {
  await writeFile(inDevice('token'), await server.addTarget(ID), { mode: 0o600 });
  return [
    `option server '${server.url}'`,
    `option controller_id '${ID}'`,
    `option token_file '${inDevice('token')}'`,
    ...more,
  ];
}
async function reload(lines: readonly string[]): Promise<void> {
  await configure(lines);
  const count = (): number =>
    daemon.log.filter((line) => line.includes('configuration read again')).length;
  const before = count();
  process.kill(daemon.pid, 'SIGHUP');
  await expect.poll(count, { timeout: 20_000 }).toBe(before + 1);
}
const poll = async (): Promise<FleetStatus> =>
  (await (await daemon.post('admin/fleet/poll')).json()) as FleetStatus;
const status = async (): Promise<FleetStatus> =>
  (await (await daemon.get('admin/fleet/status')).json()) as FleetStatus;
const pid = (): number => daemon.pid;

beforeAll(async () => {
  servers = [await createStandIn(), await createStandIn()];
  device = await createDevice();
  await device.opkg('update');
  await writeFile(inDevice('etc/config/depotd'), '');
  daemon = await startDaemon(device, { config: inDevice('etc/config/depotd') });
});
beforeEach(async () => {
  first().intercept = undefined;
  await reload([]);
});
afterAll(async () => {
  await daemon.close();
  await device.close();
  for (const server of servers) await server.close();
});

async function over(server: StandIn, action: string): Promise<string> {
  await expect
    .poll(async () => (await poll(), (await server.action(ID, action)).isActive), {
      timeout: 30_000,
    })
    .toBe(false);
  return (await server.action(ID, action)).status;
}

test('a server that the owner takes out of the options is told so, and asked no more', async () => {
  await reload(await joined(first()));
  await poll();
  await reload([]);

  await expect
    .poll(() => first().attributes(ID), { timeout: 10_000 })
    .toMatchObject({ fleet: 'switched off by the owner' });
});

test('a server that is set, exchanged for another, and unset takes effect without a restart', async () => {
  const [one, other] = servers as [StandIn, StandIn];
  const started = pid();
  expect(await status()).toMatchObject({ is_configured: false });
  await reload(await joined(one));
  const action = await one.assign(await one.publish([moduleOf(ipk('one'))]), ID);
  expect(await over(one, action)).toBe('finished');

  await reload(await joined(other));
  const second = await other.assign(await other.publish([moduleOf(ipk('two'))]), ID);
  const asked = one.requests.length;
  expect(await over(other, second)).toBe('finished');
  expect(one.requests.length).toBe(asked);

  await reload([]);
  expect(await status()).toMatchObject({ is_configured: false });
  expect((await daemon.post('admin/fleet/poll')).status).toBe(404);
  expect([...(await device.database()).keys()]).toEqual(expect.arrayContaining(['one', 'two']));
  expect(pid()).toBe(started);
});

test('a token that has changed is used, and one that is wrong is told', async () => {
  await reload(await joined(first()));
  expect(await poll()).not.toHaveProperty('last_error');
  await writeFile(inDevice('wrong'), 'TargetToken wrong\n', { mode: 0o600 });
  const lines = (await joined(first())).filter((line) => !line.includes('token_file'));

  await reload([...lines, `option token_file '${inDevice('wrong')}'`]);

  expect((await poll()).last_error).toContain('401');
});

test('what the server may do is as the configuration says now', async () => {
  await reload(await joined(first()));
  const set = await first().publish([planOf({ version: 1, install: ['tiny-01'], remove: [] })]);
  await reload(await joined(first(), "list allow 'upgrade'"));
  expect(await over(first(), await first().assign(set, ID))).toBe('error');

  await reload(await joined(first(), "list allow 'install'"));

  expect(await over(first(), await first().assign(set, ID))).toBe('finished');
});

test('a shorter interval plans the next poll anew', async () => {
  await reload(await joined(first(), "option interval_max_s '86400'"));
  await poll();

  await reload(await joined(first(), "option interval_max_s '30'"));

  const { next_poll_at: next = 0 } = await status();
  expect(next - Date.now() / 1000).toBeLessThanOrEqual(31);
});

test('a download from a server that is unset ends, and nothing of it is installed', async () => {
  await reload(await joined(first()));
  let isAsked = false;
  let isClosed = false;
  first().intercept = (request, response) => {
    if (request.url?.includes('/artifacts/') !== true) return false;
    isAsked = true;
    response.writeHead(200);
    response.write('x');
    response.on('close', () => (isClosed = true));
    return true;
  };
  await first().assign(await first().publish([moduleOf(ipk('three'))]), ID);
  await expect.poll(async () => (await poll(), isAsked), { timeout: 20_000 }).toBe(true);

  await reload([]);

  await expect.poll(() => isClosed, { timeout: 10_000 }).toBe(true);
  expect((await device.database()).has('three')).toBe(false);
});
