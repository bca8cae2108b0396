import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

/** The collector's threads save time only where a core is free. */
const HOST = ['--single-threaded-gc', join(import.meta.dirname, 'daemon-host.mjs')];
/** Each leaves some memory. */
const MOST_DAEMONS = 60;
const MOST_IDLE = 3;
/** What acts on Node itself when it starts. */
const OF_A_PROCESS = /^(?:NODE_|LD_|UV_|MALLOC|GLIBC|TZ$)/;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process of a daemon, and what it logs. */
export interface DaemonProcess {
  readonly child: ChildProcess;
  readonly lines: Interface;
  readonly ended: Promise<Ended>;
}

export function daemonProcess(child: ChildProcess): DaemonProcess {
  if (child.stderr === null) throw new Error('cannot read what the daemon logs');
  return {
    child,
    lines: createInterface({ input: child.stderr }),
    ended: new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal })),
    ),
  };
}

/** A process that runs one daemon after the other. */
export interface Host extends DaemonProcess {
  daemons: number;
}

/** Of this process, whatever modules it loads anew for the next file of tests. */
const SHARED = Symbol.for('daemon hosts');
const shared = globalThis as unknown as { [SHARED]: Host[] | undefined };
const idle = (shared[SHARED] ??= []);

/** Whether tests share processes (vitest.config.ts), and a daemon with that environment can. */
export function canBeHosted(env: NodeJS.ProcessEnv): boolean {
  return (
    process.env['DEPOTD_TEST_HOSTS'] === 'yes' &&
    Object.keys({ ...process.env, ...env })
      .filter((name) => OF_A_PROCESS.test(name))
      .every((name) => env[name] === process.env[name])
  );
}

/** Starts the daemon in a process that has run others, if one is free. */
export function startHosted(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Host {
  const host = reuseIdle() ?? openHost(program);
  host.daemons += 1;
  host.child.send({ args, env });
  return host;
}

function reuseIdle(): Host | undefined {
  for (;;) {
    const host = idle.pop();
    if (host === undefined) return undefined;
    if (hasEnded(host.child) || !host.child.connected) continue;
    hold(host.child, 'ref');
    return host;
  }
}

function openHost(start: string): Host {
  const child = spawn(process.execPath, [...HOST, start], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  child.channel?.unref();
  return { ...daemonProcess(child), daemons: 0 };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Stops the daemon; its process is there for the next, or has ended. */
export async function stopHosted(host: Host): Promise<void> {
  const { child, lines } = host;
  // Of one that was killed no event comes again, and what it was starting may keep the channel open.
  if (hasEnded(child)) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      child.off('exit', end);
      lines.off('line', read);
      resolve();
    };
    const read = (line: string): void => {
      if (line !== '{"event":"process free"}') return;
      keep(host);
      end();
    };
    child.on('exit', end);
    lines.on('line', read);
    // One whose process has ended can be told nothing.
    child.send('stop', (error) => {
      if (error !== null) end();
    });
  });
}

function keep(host: Host): void {
  if (host.daemons < MOST_DAEMONS && idle.length < MOST_IDLE) {
    hold(host.child, 'unref');
    idle.push(host);
  } else {
    host.child.disconnect();
  }
}

/** One that is idle keeps nobody from ending. */
function hold(child: ChildProcess, how: 'ref' | 'unref'): void {
  child[how]();
  (child.stderr as Socket)[how]();
}
