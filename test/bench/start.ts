import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { median, report, residentMb } from './measures.ts';

const ROUNDS = 7;
/** Memory is read when the daemon has settled and given back what its start took. */
const REST_MS = 3000;
const BARE =
  "require('node:http').createServer((request, response) => response.end('ok')).listen(Number(process.argv[1]), '127.0.0.1')";

/**
 * Start to first 200 and memory at rest, against a bare node:http server on the same Node, in
 * turns.
 */
export async function benchStart(): Promise<void> {
  const program = fileURLToPath(new URL('../../dist/start.cjs', import.meta.url));
  const root = await mkdtemp(join(tmpdir(), 'depotd-bench-'));
  const figures = { bare: [] as Figures[], depotd: [] as Figures[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    figures.bare.push(await measure(['-e', BARE, '18091'], 'http://127.0.0.1:18091/'));
    figures.depotd.push(
      await measure(
        [
          program,
          '--set',
          `main.root=${root}`,
          '--set',
          'main.auth=none',
          '--set',
          'main.owner_socket=',
          '--set',
          'main.listen=127.0.0.1:18092',
        ],
        'http://127.0.0.1:18092/healthz',
      ),
    );
  }
  await rm(root, { recursive: true, maxRetries: 20, retryDelay: 100 });
  const of = (list: Figures[], name: keyof Figures): number =>
    median(list.map((entry) => entry[name]));
  report('start to first 200', {
    'bare ms': of(figures.bare, 'startMs'),
    'depotd ms': of(figures.depotd, 'startMs'),
    ratio: of(figures.depotd, 'startMs') / of(figures.bare, 'startMs'),
  });
  report('memory at rest', {
    'bare MB': of(figures.bare, 'memoryMb'),
    'depotd MB': of(figures.depotd, 'memoryMb'),
    ratio: of(figures.depotd, 'memoryMb') / of(figures.bare, 'memoryMb'),
  });
}

interface Figures {
  startMs: number;
  memoryMb: number;
}

async function measure(args: string[], url: string): Promise<Figures> {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  while (!(await answers(url))) await delay(1);
  const startMs = performance.now() - begin;
  await delay(REST_MS);
  const memoryMb = residentMb(child.pid ?? 0);
  await end(child);
  return { startMs, memoryMb };
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (answer) => answer.ok,
    () => false,
  );
}

function end(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  return ended;
}
