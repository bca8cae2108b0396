import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chown, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import { freePort } from '../../support/free-port.ts';
import { childCpuSeconds, cpuSeconds, residentMb } from '../measures.ts';

/** hawkBits of a jar on one database: H2 in memory, or Debian's PostgreSQL. */
export interface Nodes {
  urls: readonly string[];
  /** Processor seconds so far: of the nodes, and of their database if it is a process of its own. */
  cpu: () => { nodes: number; database: number };
  residentMb: () => number;
  close: () => Promise<void>;
}

const run = promisify(execFile);
const START_LIMIT_MS = 300_000;

export async function startNodes(jar: string, count: number, hasPostgres: boolean): Promise<Nodes> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-bench-'));
  const children: ChildProcess[] = [];
  const close = async (): Promise<void> => {
    for (const child of children.toReversed()) await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const database = hasPostgres ? await startPostgres(folder, children) : [];
    const nodes: { url: string; pid: number }[] = [];
    for (let index = 0; index < count; index += 1) {
      const port = await freePort();
      const options = [...database, `--org.eclipse.hawkbit.artifact.fs.path=${folder}/artifacts`];
      const log = await open(join(folder, `node-${index}.log`), 'w');
      const child = spawn('java', [...JAVA, jar, `--server.port=${port}`, ...OPTIONS, ...options], {
        stdio: ['ignore', log.fd, log.fd],
      });
      children.push(child);
      await log.close();
      nodes.push({ url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0 });
      // One after the other: the first one makes the tables.
      await untilReady(`http://127.0.0.1:${port}`, child);
    }
    const [postgres] = hasPostgres ? children : [];
    return {
      urls: nodes.map(({ url }) => url),
      cpu: () => ({
        nodes: sum(nodes.map(({ pid }) => cpuSeconds(pid))),
        database: postgres === undefined ? 0 : cpuOfTree(postgres.pid ?? 0),
      }),
      residentMb: () => sum(nodes.map(({ pid }) => residentMb(pid))),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const JAVA = ['-Xmx1g', '-XX:+UseSerialGC', '-jar'];
const OPTIONS = [
  '--server.address=127.0.0.1',
  '--hawkbit.server.ddi.security.authentication.targettoken.enabled=true',
  '--hawkbit.controller.pollingTime=00:00:30',
  '--hawkbit.controller.minPollingTime=00:00:30',
];

/** A cluster of its own in the folder; it refuses to be root's. */
async function startPostgres(folder: string, children: ChildProcess[]): Promise<string[]> {
  const [version = ''] = (await readdir('/usr/lib/postgresql')).sort().reverse();
  const programs = `/usr/lib/postgresql/${version}/bin`;
  const { stdout } = await run('id', ['-u', 'postgres']);
  const { stdout: group } = await run('id', ['-g', 'postgres']);
  const as = { uid: Number(stdout), gid: Number(group) };
  await chown(folder, as.uid, as.gid);
  const data = join(folder, 'data');
  await run(`${programs}/initdb`, ['-D', data, '-A', 'trust', '-U', 'postgres'], as);
  const port = await freePort();
  const place = ['-p', String(port), '-h', '127.0.0.1', '-k', folder];
  const child = spawn(`${programs}/postgres`, ['-D', data, ...place], { ...as, stdio: 'ignore' });
  children.push(child);
  const where = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
  for (let tries = 0; ; tries += 1) {
    try {
      await run(`${programs}/createdb`, [...where, 'hawkbit']);
      break;
    } catch (error) {
      if (tries === 50) throw error;
      await delay(200);
    }
  }
  const url = `jdbc:postgresql://127.0.0.1:${port}/hawkbit`;
  return ['--spring.profiles.active=postgresql', `--spring.datasource.url=${url}`];
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    const answer = await fetch(`${url}/actuator/health`).catch(() => undefined);
    if (answer?.ok === true) return;
    await delay(500);
  }
  throw new Error(`the node at ${url} does not come up`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  // PostgreSQL: without waiting for its clients.
  child.kill('SIGINT');
  await Promise.race([ended, delay(15_000).then(() => child.kill('SIGKILL'))]);
}

/** A backend counts by itself while it lives, and among its parent's ended children afterwards. */
function cpuOfTree(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ');
  const living = children.filter((child) => existsSync(`/proc/${child}/stat`)).map(Number);
  return cpuSeconds(pid) + childCpuSeconds(pid) + sum(living.map(cpuSeconds));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
