import { mkdir, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { startUhttpd, type WebServer } from '../packaging/web-server.ts';
import { messageOf, send } from '../support/raw-request.ts';

let device: Device;
let daemon: TestDaemon;
let relay: WebServer;

beforeAll(async () => {
  device = await createDevice();
  await mkdir(join(device.root, 'etc/config'), { recursive: true });
  await nameDevice('OpenWrt');
  await writeFile(
    join(device.root, 'etc/config/dhcp'),
    "config dnsmasq\n\toption domain 'lan'\n\toption local '/lan/'\n",
  );
  const socket = join(device.root, 'depotd.sock');
  daemon = await startDaemon(device, {
    set: ['main.listen=127.0.0.1:0', `main.listen=unix:${socket}`, 'main.hosts=nas.lan:8080'],
  });
  relay = await startUhttpd({ socket });
});

afterAll(async () => {
  await relay.close();
  await daemon.close();
  await device.close();
});

const nameDevice = (name: string): Promise<void> =>
  writeFile(join(device.root, 'etc/config/system'), `config system\n\toption hostname '${name}'\n`);

async function statusOf(host: string, url = daemon.url): Promise<number> {
  const answer = await send(`${url}${daemon.base}/admin/store/installed`, {
    headers: { Host: host },
  });
  if (answer.status !== 200) messageOf(answer);
  return answer.status;
}

const addresses = Object.values(networkInterfaces())
  .flatMap((entries = []) => entries)
  .filter(({ internal }) => !internal)
  .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address));

const own = [
  'OpenWrt',
  'openwrt:80',
  'OPENWRT.LAN',
  'openwrt.lan.',
  'openwrt.lan.:8728',
  'openwrt.local',
  'localhost.',
  'nas.lan.:8080',
  ...addresses,
  ...addresses.map((address) => `${address}:8728`),
];
test.each(own)('%s is a name of the device, straight and behind uhttpd', async (host) => {
  expect([await statusOf(host), await statusOf(host, relay.url)]).toEqual([200, 200]);
});

const foreign = [
  'lan',
  'local',
  'openwrt.lan.evil.example',
  'openwrt.evil.example',
  'xopenwrt.lan',
  'openwrt..',
  'openwrt.lan..',
  '.openwrt',
  'nas.lan.',
  'nas.lan.:8081',
  '203.0.113.9',
  '192.168.1.1.nip.io',
  '[fd00:dead::beef]',
];
test.each(foreign)('%s gets 421, straight and behind uhttpd', async (host) => {
  expect([await statusOf(host), await statusOf(host, relay.url)]).toEqual([421, 421]);
});

/** No URL can hold them; a browser sends none of them. */
const malformed = ['fd00::1', '[fe80::1%25eth0]', '[fe80::1%eth0]', '[openwrt]', 'openwrt:x', '['];
test.each(malformed)('%s is refused, for it is no host of a URL', async (host) => {
  expect([400, 421]).toContain(await statusOf(host));
});

test('a new host name counts within a second or two, and the old one no more', async () => {
  await nameDevice('Castle');
  const deadline = performance.now() + 10_000;
  while ((await statusOf('castle.lan')) !== 200 && performance.now() < deadline) await delay(50);

  expect(await statusOf('castle.lan')).toBe(200);
  expect(await statusOf('openwrt.lan')).toBe(421);
});
