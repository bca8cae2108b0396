import { spawn, type ChildProcess } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { Bench } from './bench.ts';
import { killAll } from './process-scan.ts';

/**
 * Starts the daemon again whenever it ends, as procd does it, and calls the watcher of an upgrade
 * that a power cut interrupted, as the init script does at boot.
 */
export interface ServiceManager {
  /** Nothing is started while this is done: the machine is down. */
  readonly whileDown: (work: () => Promise<void>) => Promise<void>;
  /** Whether a watcher that was called at boot still works. */
  readonly isWatching: () => boolean;
  readonly close: () => Promise<void>;
}

export interface ManagedDaemon {
  readonly isUp: () => boolean;
  readonly pid: () => number;
  /** Rejects if it ends before it listens. */
  readonly start: () => Promise<void>;
}

const PAUSE_MS = 200;

export function createServiceManager(bench: Bench, daemon: ManagedDaemon): ServiceManager {
  const pending = join(bench.device.root, 'etc/depotd/self-upgrade/pending');
  let isClosed = false;
  let isDown = false;
  let watcher: ChildProcess | undefined;
  const isDownNow = (): boolean => isDown;
  const isWatching = (): boolean =>
    watcher !== undefined && watcher.exitCode === null && watcher.signalCode === null;
  const supervise = async (): Promise<void> => {
    while (!isClosed) {
      await delay(PAUSE_MS);
      if (isDown || daemon.isUp()) continue;
      await daemon.start().catch(() => undefined);
      // The machine went down while it came up.
      if (isDownNow()) killAll([daemon.pid()]);
    }
  };
  const supervising = supervise();
  const cut = (): void => {
    if (daemon.isUp()) killAll([daemon.pid()]);
    // With all that it started.
    if (isWatching()) killAll([-(watcher?.pid ?? 0)]);
  };
  return {
    isWatching,
    whileDown: async (work) => {
      isDown = true;
      cut();
      while (daemon.isUp() || isWatching()) await delay(10);
      await work();
      const isPending = await access(pending).then(
        () => true,
        () => false,
      );
      if (isPending) watcher = callWatcher(bench, join(pending, '../watch.sh'));
      isDown = false;
    },
    close: async () => {
      isClosed = true;
      isDown = true;
      await supervising;
      cut();
    },
  };
}

function callWatcher({ device }: Bench, script: string): ChildProcess {
  const options = { env: device.env, stdio: 'ignore', detached: true } as const;
  return spawn('/bin/sh', [script, 'boot'], options);
}
