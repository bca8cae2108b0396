import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

import {
  canBeHosted,
  daemonProcess,
  startHosted,
  stopHosted,
  type DaemonProcess,
  type Ended,
  type Host,
} from './daemon-hosts.ts';
import type { Device } from './device.ts';

/** What the daemon needs of a device: its root, and an environment in which its programs are found. */
export type DaemonDevice = Pick<Device, 'root' | 'env'>;

export interface DaemonOptions {
  /** Further `SECTION.OPTION=VALUE`; another main.listen is one more listener. */
  set?: readonly string[];
  /** A configuration file to start with; by default none is read. */
  config?: string;
  /** For Node itself, such as the size of its heap. */
  nodeFlags?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Another daemon than the one that `npm run build` made. */
  program?: string;
}

export type EndingSignal = 'SIGTERM' | 'SIGINT' | 'SIGKILL';

export interface LaunchedDaemon {
  readonly url: string;
  readonly pid: number;
  /**
   * Sends the signal unless the process has ended, and waits until it has. One that does not end is
   * killed.
   */
  readonly kill: (signal: EndingSignal) => Promise<Ended>;
  /** Stops the daemon; whether its process ends with it is not said. */
  readonly stop: () => Promise<void>;
}

/** The file that `npm run build` makes. */
export const DAEMON_PROGRAM = join(import.meta.dirname, '../../dist/start.cjs');

/** How long the daemon may take to end on a signal: its own grace is 5 s. */
const END_LIMIT_MS = 15_000;

/** Settles when the daemon listens. Each line that it logs is added to `log`. */
export async function launchDaemon(
  device: DaemonDevice,
  options: DaemonOptions,
  log: string[],
): Promise<LaunchedDaemon> {
  const { set = [], config = '/dev/null', env = {}, program = DAEMON_PROGRAM } = options;
  const { nodeFlags = [] } = options;
  const settings = [
    `main.root=${device.root}`,
    'main.auth=none',
    'main.listen=127.0.0.1:0',
    // Root's own: there is one on a machine.
    'main.owner_socket=',
    ...set,
  ].flatMap((setting) => ['--set', setting]);
  const words = ['--config', config, ...settings];
  const host = startHost(device, options, words);
  const started = host ?? startAlone([...nodeFlags, program, ...words], { ...device.env, ...env });
  const { child, ended } = started;
  if (!running.has(child)) endWithThisProcess(child);
  const { port, close } = await waitForPort(started, log);
  let stopping: Promise<unknown> | undefined;
  const kill: LaunchedDaemon['kill'] = async (signal) => {
    if (stopping === undefined) return endProcess(child, ended, signal);
    // Its process may run another by now.
    await stopping;
    return { code: 0, signal: null };
  };
  const stop = async (): Promise<void> => {
    await (host === undefined
      ? endProcess(child, ended, 'SIGTERM')
      : within(child, stopHosted(host)));
    close();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    kill,
    stop: async () => {
      await (stopping ??= stop());
    },
  };
}

/** Unless it is to have a process of its own. */
function startHost(
  device: DaemonDevice,
  { env, nodeFlags = [], program }: DaemonOptions,
  words: readonly string[],
): Host | undefined {
  const all = { ...device.env, ...env };
  if (program !== undefined || nodeFlags.length > 0 || !canBeHosted(all)) return undefined;
  return startHosted(DAEMON_PROGRAM, words, all);
}

function startAlone(words: readonly string[], env: NodeJS.ProcessEnv): DaemonProcess {
  return daemonProcess(
    spawn(process.execPath, words, { env, stdio: ['ignore', 'inherit', 'pipe'] }),
  );
}

const running = new Set<ChildProcess>();

/**
 * A daemon that outlived a test which broke off would go on, and keep vitest waiting for the end of
 * the output that it has inherited.
 */
function endWithThisProcess(child: ChildProcess): void {
  if (running.size === 0 && process.listenerCount('exit', endRunning) === 0) {
    process.on('exit', endRunning);
    // vitest ends a worker by it.
    process.once('SIGTERM', () => {
      endRunning();
      process.kill(process.pid, 'SIGTERM');
    });
  }
  running.add(child);
  child.on('exit', () => running.delete(child));
}

function endRunning(): void {
  for (const child of running) child.kill('SIGKILL');
}

interface Listening {
  port: number;
  /** Ends the log. */
  close: () => void;
}

function waitForPort({ child, lines }: DaemonProcess, log: string[]): Promise<Listening> {
  return new Promise((resolve, reject) => {
    const first = log.length;
    const fail = (): void =>
      reject(new Error(`cannot start the daemon: ${log.slice(first).join('\n')}`));
    const read = (line: string): void => {
      log.push(line);
      const port = portIn(line);
      if (port === undefined) return;
      lines.off('close', fail);
      child.off('error', reject);
      resolve({ port, close: () => lines.off('line', read) });
    };
    lines.on('line', read);
    lines.once('close', fail);
    child.once('error', reject);
  });
}

function portIn(line: string): number | undefined {
  if (!line.startsWith('{')) return undefined;
  const { event, port } = JSON.parse(line) as { event?: string; port?: number };
  return event === 'listening' ? port : undefined;
}

async function endProcess(
  child: ChildProcess,
  ended: Promise<Ended>,
  signal: EndingSignal,
): Promise<Ended> {
  if (child.exitCode !== null || child.signalCode !== null) return ended;
  child.kill(signal);
  return within(child, ended);
}

async function within<Result>(child: ChildProcess, ending: Promise<Result>): Promise<Result> {
  const timer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
  const result = await ending;
  clearTimeout(timer);
  return result;
}
