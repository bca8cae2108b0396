import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import { runCommand, startCommand, type Outcome, type RunningCommand } from '../device/command.ts';
import type { DaemonOptions } from '../device/daemon-process.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device, type DeviceOptions } from '../device/device.ts';

/** The file that `npm run build` makes. */
export const DEPOTCTL = join(import.meta.dirname, '../../dist/depotctl.mjs');

export interface ClientTestOptions extends DeviceOptions {
  daemon?: DaemonOptions;
}

export interface ClientTest {
  device: Device;
  daemon: TestDaemon;
  /** An address that stays the same over restarts of the daemon. */
  socketUrl: string;
  /** Runs depotctl against the daemon's TCP address to its end. */
  depotctl: (...words: readonly string[]) => Promise<Outcome>;
  /** The same against its socket, to be signalled or watched while it runs. */
  start: (...words: readonly string[]) => RunningCommand;
  /** With these lines as standard input. */
  withInput: (input: string, ...words: readonly string[]) => Promise<Outcome>;
  /** The environment of all of them. */
  env: NodeJS.ProcessEnv;
}

/**
 * A device whose lists were fetched, a daemon on it and the client, which has a folder of its own
 * for sessions. All go away with the test.
 */
export async function startClientTest({
  daemon: { set = [], ...daemonOptions } = {},
  ...options
}: ClientTestOptions = {}): Promise<ClientTest> {
  const device = await createDevice(options);
  onTestFinished(() => device.close());
  await device.opkg('update');
  const socketUrl = `unix:${join(device.root, 'tmp/depotd.sock')}`;
  const daemon = await startDaemon(device, {
    set: [`main.listen=${socketUrl}`, ...set],
    ...daemonOptions,
  });
  onTestFinished(() => daemon.close());
  const env = { ...process.env, XDG_RUNTIME_DIR: join(device.root, 'tmp'), DEPOTCTL_SESSION: '' };
  const run = (words: readonly string[], input?: string): Promise<Outcome> =>
    runCommand([process.execPath, DEPOTCTL, '--url', daemon.url, ...words], {
      env,
      ...(input !== undefined && { input }),
    });
  return {
    device,
    daemon,
    socketUrl,
    env,
    depotctl: (...words) => run(words),
    withInput: (input, ...words) => run(words, input),
    start: (...words) =>
      startCommand([process.execPath, DEPOTCTL, '--url', socketUrl, ...words], { env }),
  };
}

export function runDepotctl(...words: readonly string[]): Promise<Outcome> {
  return runCommand([process.execPath, DEPOTCTL, ...words]);
}
