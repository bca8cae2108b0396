import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { DAEMON_PROGRAM } from '../device/daemon-process.ts';

export interface DemoDaemon {
  url: string;
  api: string;
  pid: number;
  /** Settles with the last lines of its log when it has ended. */
  ended: Promise<string>;
  end: () => Promise<void>;
}

interface DaemonPlace {
  root: string;
  /** Gets what the daemon logs. */
  logFile: string;
  environment: NodeJS.ProcessEnv;
}

/** The address that the daemon has on a device; where it is taken, any other. */
const USUAL_PORT = 8728;
/** Below the root: what the page sets is kept. */
export const CONFIG_FILE = 'etc/config/depotd';
const BASE = '/cgi-bin/panel';

/** @throws Error that says what to do */
export async function startDemoDaemon(place: DaemonPlace): Promise<DemoDaemon> {
  if (!existsSync(DAEMON_PROGRAM)) {
    throw new Error('the daemon is not built; do that first: npm run build');
  }
  const usual = await launch(place, USUAL_PORT);
  if ('daemon' in usual) return usual.daemon;
  const other = usual.log.includes('cannot listen') ? await launch(place, 0) : usual;
  if ('daemon' in other) return other.daemon;
  throw new Error(
    `the daemon ended at its start; it said:\n${other.log}\nIf what is on the device keeps it from starting, remove the demo's folder: rm -r demo`,
  );
}

const LOG_LINES = 20;
/** The daemon's own grace is 5 s. */
const END_LIMIT_MS = 10_000;

async function launch(
  { root, logFile, environment }: DaemonPlace,
  port: number,
): Promise<{ daemon: DemoDaemon } | { log: string }> {
  const settings = [
    `main.root=${root}`,
    'main.auth=none',
    'main.owner_socket=',
    `main.base=${BASE}`,
    `main.listen=127.0.0.1:${port}`,
  ].flatMap((setting) => ['--set', setting]);
  // In a process group of its own: Ctrl-C is for the demo, which ends the daemon when the tasks
  // have been stopped.
  const child = spawn(
    process.execPath,
    [DAEMON_PROGRAM, '--config', join(root, CONFIG_FILE), ...settings],
    {
      env: environment,
      cwd: root,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const last: string[] = [];
  const exited = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  const ended = new Promise<string>((resolve) => child.on('close', () => resolve(last.join('\n'))));
  const listening = readLog(child, { logFile, last });
  const found = await Promise.race([listening, ended]);
  if (typeof found === 'string') return { log: found };
  const url = `http://127.0.0.1:${found}`;
  return {
    daemon: {
      url,
      api: `${url}${BASE}`,
      pid: child.pid ?? 0,
      ended,
      end: () => end(child, exited),
    },
  };
}

/** @returns the port, when the daemon listens */
function readLog(
  child: ChildProcess,
  { logFile, last }: { logFile: string; last: string[] },
): Promise<number> {
  const file = createWriteStream(logFile, { flags: 'a' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    if (child.stderr === null) throw new Error('cannot read what the daemon logs');
    createInterface({ input: child.stderr })
      .on('line', (line) => {
        file.write(`${line}\n`);
        last.push(line);
        if (last.length > LOG_LINES) last.shift();
        const port = /"port":(\d+),"event":"listening"/.exec(line)?.[1];
        if (port !== undefined) resolve(Number(port));
      })
      .on('close', () => file.end());
  });
}

async function end(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
  await exited;
  clearTimeout(timer);
}
