import { rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { commandEnvironment, IDLE_MINUTE_MS, IS_OF_PROCD } from './config/environment.ts';
import { run } from './device/exec.ts';
import { reasonOf } from './errors.ts';
import type { Log } from './log.ts';

/**
 * Ends a daemon that nobody needs (`main.idle_exit_min`). Beside the owner's socket, in a folder
 * that is root's alone, it leaves a mark: the relay and depotctl rename it `waking`, start another
 * daemon, and wait until that takes it away. Invariants:
 *  - no end while somebody is connected or something is to be done, now or at a time;
 *  - whoever renames the mark starts the daemon: once, however many ask;
 *  - a daemon that its owner stopped has left no mark, and nobody starts it.
 */
export function createIdleExit({ minutes, isNeeded, end }: IdleExitOptions) {
  let connected = 0;
  let sinceMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const look = (): void => {
    const limitMs = minutes() * IDLE_MINUTE_MS;
    clearTimeout(timer);
    if (limitMs === 0 || isClosed) return;
    if (connected > 0 || isNeeded()) sinceMs = performance.now();
    const leftMs = sinceMs + limitMs - performance.now();
    if (leftMs > 0) {
      timer = setTimeout(look, leftMs).unref();
      return;
    }
    // If the daemon cannot end, it tries again after the same time.
    sinceMs = performance.now();
    void end().then(look);
  };
  return {
    /** Takes a connection into account until it is closed. */
    follow: (socket: Socket): void => {
      connected += 1;
      socket.once('close', () => {
        connected -= 1;
        sinceMs = performance.now();
      });
    },
    /** Begins to watch, or goes by other settings. */
    watch: look,
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

interface IdleExitOptions {
  /** 0: never. */
  minutes: () => number;
  isNeeded: () => boolean;
  end: () => Promise<void>;
}

const markOf = (ownerSocket: string, name: 'asleep' | 'waking'): string =>
  join(dirname(ownerSocket), name);

/** A service manager that starts again whatever ends has to be told, and ends the daemon itself. */
export async function fallAsleep(ownerSocket: string, log: Log): Promise<void> {
  const mark = markOf(ownerSocket, 'asleep');
  try {
    await writeFile(mark, '', { flag: 'wx', mode: 0o600 });
    log.info({}, 'ends until it is asked for');
    if (!IS_OF_PROCD) {
      process.kill(process.pid, 'SIGTERM');
      return;
    }
    const argv: [string, ...string[]] = ['ubus', 'call', 'service', 'delete', '{"name":"depotd"}'];
    const command = { argv, environment: commandEnvironment() };
    const { exitCode, stderr } = await run(command, { timeoutMs: 10_000, maxBytes: 4096 });
    if (exitCode !== 0) throw new Error(`procd does not let it end: ${stderr.trim()}`);
  } catch (error) {
    await rm(mark, { force: true }).catch(() => undefined);
    log.warn({ reason: reasonOf(error) }, 'goes on, though nobody needs it');
  }
}

/** Removes the marks of a sleeping daemon: who waits for it to start may ask now. */
export async function wakeUp(ownerSocket: string): Promise<void> {
  if (ownerSocket === '') return;
  for (const name of ['asleep', 'waking'] as const) {
    await rm(markOf(ownerSocket, name), { force: true }).catch(() => undefined);
  }
}
