import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, onTestFinished } from 'vitest';

import {
  runCommand,
  startCommand,
  type CommandOptions,
  type Outcome,
  type RunningCommand,
} from '../device/command.ts';
import type { DaemonOptions } from '../device/daemon-process.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device, type DeviceOptions } from '../device/device.ts';
import { runHosted } from './depotctl-hosts.ts';
import { bundledProgram } from '../support/bundled-program.ts';

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
export async function startClientTest(options?: ClientTestOptions): Promise<ClientTest> {
  const { close, ...started } = await openClientTest(options);
  onTestFinished(close);
  return started;
}

/** The same for all tests of a file or of a group: they find what those before them have left. */
export function shareClientTest(
  options: ClientTestOptions | (() => Promise<ClientTestOptions>) = {},
  prepare: (on: ClientTest) => Promise<unknown> = () => Promise.resolve(),
): () => ClientTest {
  let started: ClientTest & { close: () => Promise<void> };
  beforeAll(async () => {
    started = await openClientTest(typeof options === 'function' ? await options() : options);
    await prepare(started);
  });
  afterAll(() => started.close());
  return () => started;
}

async function openClientTest({
  daemon: { set = [], ...daemonOptions } = {},
  ...options
}: ClientTestOptions = {}): Promise<ClientTest & { close: () => Promise<void> }> {
  const device = await createDevice(options);
  await device.opkg('update');
  const socketUrl = `unix:${join(device.root, 'tmp/depotd.sock')}`;
  const daemon = await startDaemon(device, {
    set: [`main.listen=${socketUrl}`, ...set],
    ...daemonOptions,
  });
  const env = { ...process.env, XDG_RUNTIME_DIR: join(device.root, 'tmp'), DEPOTCTL_SESSION: '' };
  return {
    device,
    daemon,
    socketUrl,
    env,
    depotctl: (...words) => runHosted(DEPOTCTL, ['--url', daemon.url, ...words], env),
    withInput: (input, ...words) =>
      runCommand([process.execPath, DEPOTCTL, '--url', daemon.url, ...words], { env, input }),
    start: (...words) =>
      startCommand([process.execPath, DEPOTCTL, '--url', socketUrl, ...words], { env }),
    close: async () => {
      await daemon.close();
      await device.close();
    },
  };
}

/** What depotctl writes for each list of words, in one process for all of them. */
export async function runEach(
  lists: readonly (readonly string[])[],
  options: Pick<CommandOptions, 'env' | 'cwd'>,
): Promise<Pick<Outcome, 'stdout' | 'stderr'>[]> {
  const folder = await mkdtemp(join(tmpdir(), 'depotctl-each-'));
  const file = join(folder, 'words.json');
  await writeFile(file, JSON.stringify(lists));
  const program = await bundledProgram(join(import.meta.dirname, 'run-each.ts'));
  const { stdout } = await runCommand([process.execPath, program, DEPOTCTL, file], options);
  await rm(folder, { recursive: true });
  return JSON.parse(stdout) as Pick<Outcome, 'stdout' | 'stderr'>[];
}

export function runDepotctl(...words: readonly string[]): Promise<Outcome> {
  return runHosted(DEPOTCTL, words, process.env);
}
