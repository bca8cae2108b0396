import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { runCommand } from '../device/command.ts';
import { launchDaemon, type LaunchedDaemon } from '../device/daemon-process.ts';
import type { Bench } from './bench.ts';
import { createClient, parse, type FaultClient } from './client.ts';
import { isAlive } from './process-scan.ts';
import { createServiceManager } from './service-manager.ts';
import { STORE_PROGRAM } from './store-package.ts';

/** What the preloaded module does at the n-th change that the daemon makes, counted from now. */
export interface ArmedFault {
  id: string;
  /** 0: at once. */
  at: number;
  fault: string;
  /** How long it lasts; 0: until the next one is armed. */
  forMs: number;
  clockOffsetMs: number;
}

/** What the preloaded module or a program reported. */
export interface FaultEvent {
  armed?: string;
  fired?: string;
  fault?: string;
  point?: string;
  program?: string;
  count?: number;
}

/** A daemon that is started again when it ends, as procd does it, and watched from outside. */
export interface SupervisedDaemon extends FaultClient {
  readonly arm: (fault: ArmedFault) => Promise<void>;
  /** Starts it if it has ended. */
  readonly ensure: () => Promise<void>;
  readonly isUp: () => boolean;
  readonly pid: () => number;
  /** Waits until it has ended, and does what is done while it is not there. */
  readonly whileDown: (work: () => Promise<void>) => Promise<void>;
  /** Something else starts it again. */
  readonly isManaged: boolean;
  /** Whether something other than the daemon still works on its behalf. */
  readonly isWatching: () => boolean;
  readonly events: () => Promise<FaultEvent[]>;
  readonly findings: string[];
  readonly starts: () => number;
  readonly log: string[];
  readonly close: () => Promise<void>;
}

const PRELOAD = join(import.meta.dirname, 'preload.mjs');
const START_LIMIT_MS = 20_000;
/** How long a new version of the daemon may take to answer. */
const UPGRADE_LIMIT_S = 12;
const ENV = {
  NODE_OPTIONS: `--import=${PRELOAD}`,
  DEPOTD_SELF_UPGRADE_LIMIT_S: String(UPGRADE_LIMIT_S),
  DEPOTD_SELF_UPGRADE_PAUSE_S: '0.3',
};
/** A newer version has its limit, and the old one is tried for two minutes to be put back. */
const RETURN_LIMIT_MS = 200_000;

export interface SupervisionOptions {
  /** Further settings. */
  set: readonly string[];
  /** The daemon is a package of the device, and something else starts it. */
  isPackage: boolean;
}

export function createSupervisedDaemon(
  bench: Bench,
  { set, isPackage }: SupervisionOptions,
): SupervisedDaemon {
  const findings: string[] = [];
  const log: string[] = [];
  const control = join(bench.folder, 'control.json');
  let daemon: LaunchedDaemon | undefined;
  let starts = 0;
  const isUp = (): boolean => daemon !== undefined && isAlive(daemon.pid);
  // Where the watcher of an upgrade asks: the port is another one after each start.
  const socket = isPackage ? [`main.listen=unix:${join(bench.folder, 'depotd.sock')}`] : [];
  const settings = [...set, ...socket];
  const program = isPackage ? { program: join(bench.device.root, STORE_PROGRAM) } : {};
  const start = async (): Promise<void> => {
    starts += 1;
    const launching = launchDaemon(bench.device, { set: settings, env: ENV, ...program }, log);
    daemon = await withLimit(launching, START_LIMIT_MS);
  };
  const events = async (): Promise<FaultEvent[]> =>
    (await bench.lines('events')).flatMap((line) => {
      try {
        return [JSON.parse(line) as FaultEvent];
      } catch {
        return [];
      }
    });
  const client = createClient(() => (isUp() ? daemon?.url : undefined), findings);
  const pid = (): number => daemon?.pid ?? 0;
  const manager = isPackage ? createServiceManager(bench, { isUp, pid, start }) : undefined;
  return {
    findings,
    log,
    isUp,
    pid,
    isManaged: isPackage,
    isWatching: () => manager?.isWatching() === true,
    whileDown: async (work) => {
      if (manager !== undefined) return manager.whileDown(work);
      await waitUntil(() => !isUp(), 15_000);
      await work();
    },
    starts: () => starts,
    arm: async (fault) => {
      await writePlan(control, { ...fault, filler: bench.filler });
      if (!isUp()) return;
      process.kill(daemon?.pid ?? 0, 'SIGUSR2');
      await waitUntil(
        async () => !isUp() || (await events()).some(({ armed }) => armed === fault.id),
        5000,
      );
    },
    ensure: async () => {
      if (manager !== undefined) {
        const isBack = await waitUntil(isUp, RETURN_LIMIT_MS);
        if (!isBack) findings.push('nothing brings the daemon back');
        return;
      }
      for (let tries = 0; !isUp() && tries < 4; tries += 1) {
        await start().catch(async (error: unknown) => {
          // A fault may hit it before it listens; without one it has to start.
          const problem = `the daemon does not start: ${String(error)}`;
          if (tries === 3 && !findings.includes(problem)) findings.push(problem);
          const { fault = 'none' } = parse(await readFile(control, 'utf8')) as { fault?: string };
          if (fault !== 'none') await writePlan(control, nothing('start'));
        });
      }
    },
    events,
    ...client,
    close: async () => {
      await manager?.close();
      if (daemon !== undefined && isUp()) {
        await runCommand(['prlimit', '--pid', String(daemon.pid), '--nofile=1024:']);
        await daemon.kill('SIGTERM');
      }
    },
  };
}

/** By rename: a daemon may be reading it. */
async function writePlan(file: string, plan: ArmedFault & { filler?: string }): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(plan));
  await rename(`${file}.new`, file);
}

export function nothing(id: string): ArmedFault {
  return { id, at: 0, fault: 'none', forMs: 0, clockOffsetMs: 0 };
}

export async function waitUntil(
  isSo: () => Promise<boolean> | boolean,
  limitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) return false;
    await delay(15);
  }
  return true;
}

async function withLimit<Value>(work: Promise<Value>, limitMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
