import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

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

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface LaunchedDaemon {
  readonly url: string;
  readonly pid: number;
  /**
   * Sends the signal unless the process has ended, and waits until it has. One that does not end is
   * killed.
   */
  readonly kill: (signal: EndingSignal) => Promise<Ended>;
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
  const words = [...nodeFlags, program, '--config', config, ...settings];
  const child = spawn(process.execPath, words, {
    env: { ...device.env, ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  endWithThisProcess(child);
  const ended = new Promise<Ended>((resolve) =>
    child.on('exit', (code, signal) => resolve({ code, signal })),
  );
  const port = await waitForPort(child, log);
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    kill: (signal) => endProcess(child, ended, signal),
  };
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

function waitForPort(child: ChildProcess, log: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    if (child.stderr === null) throw new Error('cannot read what the daemon logs');
    const first = log.length;
    const lines = createInterface({ input: child.stderr });
    lines.on('line', (line) => {
      log.push(line);
      const port = portIn(line);
      if (port !== undefined) resolve(port);
    });
    lines.on('close', () =>
      reject(new Error(`cannot start the daemon: ${log.slice(first).join('\n')}`)),
    );
    child.on('error', reject);
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
  const timer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
  const result = await ended;
  clearTimeout(timer);
  return result;
}
