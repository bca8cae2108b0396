import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { isRunning } from '../../../src/features/store/running-services.ts';
import { startRpcd, type RpcdStandIn } from '../../device/rpcd/rpcd.ts';
import { openStore } from '../packages/open-store.ts';
import { LUCI_PACKAGES } from './luci-packages.ts';

async function startBus(): Promise<{ bus: RpcdStandIn; socket: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'ubus-'));
  const socket = join(folder, 'ubus.sock');
  const bus = await startRpcd(socket);
  onTestFinished(async () => {
    await bus.close();
    await rm(folder, { recursive: true });
  });
  return { bus, socket };
}

test('procd says whether one of the services runs', async () => {
  const { bus, socket } = await startBus();
  Object.assign(bus.services, { up: true, down: false });

  expect(await isRunning(socket, ['up'])).toBe(true);
  expect(await isRunning(socket, ['down', 'up'])).toBe(true);
  expect(await isRunning(socket, ['down'])).toBe(false);
  expect(await isRunning(socket, ['unknown'])).toBeUndefined();
});

test('without procd nobody knows', async () => {
  const { socket } = await startBus();

  expect(await isRunning(socket, ['up'])).toBeUndefined();
  expect(await isRunning(`${socket}-gone`, ['up'])).toBeUndefined();
});

test('the details of an app say whether the program behind it runs', async () => {
  const { bus, socket } = await startBus();
  const store = await openStore(
    { packages: LUCI_PACKAGES },
    { env: { DEPOTD_UBUS_SOCKET: socket } },
  );
  onTestFinished(store.close);
  await store.run('install', { package: 'luci-app-transmission' });
  const detailsOf = async (): Promise<unknown> =>
    (await store.daemon.get('admin/store/details?package=luci-app-transmission')).json();

  bus.services.transmission = true;
  expect(await detailsOf()).toMatchObject({ services: ['transmission'], is_running: true });
  bus.services.transmission = false;
  expect(await detailsOf()).toMatchObject({ services: ['transmission'], is_running: false });
});
