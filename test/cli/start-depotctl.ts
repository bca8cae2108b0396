import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import { runCommand, startCommand, type Outcome, type RunningCommand } from '../device/command.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device, type DeviceOptions } from '../device/device.ts';

/** The file that `npm run build` makes. */
export const DEPOTCTL = join(import.meta.dirname, '../../dist/depotctl.mjs');

export interface ClientTest {
  device: Device;
  daemon: TestDaemon;
  /** An address that stays the same over restarts of the daemon. */
  socketUrl: string;
  /** Runs depotctl against the daemon's TCP address to its end. */
  depotctl: (...words: readonly string[]) => Promise<Outcome>;
  /** The same against its socket, to be signalled or watched while it runs. */
  start: (...words: readonly string[]) => RunningCommand;
}

/** A device whose lists were fetched, a daemon on it and the client. All go away with the test. */
export async function startClientTest(options?: DeviceOptions): Promise<ClientTest> {
  const device = await createDevice(options);
  onTestFinished(() => device.close());
  await device.opkg('update');
  const socketUrl = `unix:${join(device.root, 'tmp/depotd.sock')}`;
  const daemon = await startDaemon(device, { set: [`main.listen=${socketUrl}`] });
  onTestFinished(() => daemon.close());
  return {
    device,
    daemon,
    socketUrl,
    depotctl: (...words) => runDepotctl('--url', daemon.url, ...words),
    start: (...words) => startCommand([process.execPath, DEPOTCTL, '--url', socketUrl, ...words]),
  };
}

export function runDepotctl(...words: readonly string[]): Promise<Outcome> {
  return runCommand([process.execPath, DEPOTCTL, ...words]);
}
