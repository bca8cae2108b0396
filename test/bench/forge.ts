import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startBareDaemon } from './bare-daemon.ts';
import { cpuSeconds, median } from './measures.ts';

/**
 * The built daemon's forge half beside nginx as reverse proxy, twice: `tuned` keeps its connections
 * to the upstream and writes no log, `plain` is Debian's nginx.conf with nothing but a proxy_pass.
 * All stand before the same upstream (another nginx), each on one core, the upstream and the load
 * on the other. Needs nginx, wrk, curl and taskset, and two cores. Prints requests a second and
 * processor time a request for small JSON, bytes a second and processor time for a 1 GiB archive,
 * and the peak of resident memory over rest, in a fresh daemon each. With FORGE_URL and FORGE_PATH
 * (a GET, from the root of the host) the upstream is that forge, and only the small answer is
 * measured. ROUNDS: 5.
 *
 *     npm run build && node --import tsx test/bench/forge.ts
 */
const [UPSTREAM, TUNED, PLAIN] = [18_411, 18_412, 18_413];
const { FORGE_URL, FORGE_PATH = '/api/v1/repos/root/hello/contents' } = process.env;
const UPSTREAM_URL = FORGE_URL ?? `http://127.0.0.1:${UPSTREAM}`;
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const MIB = 1024 ** 2;
const JSON_PATH = FORGE_URL === undefined ? '/api/v1/repos/o/r/pulls/1' : FORGE_PATH;
const ARCHIVE_PATH = '/api/v1/repos/o/r/archive/main.tar.gz';
const QUICK = 'access_log off; keepalive_requests 1000000;';
const UPLOAD_PATH = '/api/v1/repos/o/r/contents/up';
const run = promisify(execFile);

/** A proxy under test. */
interface Proxy {
  url: string;
  pid: number;
}

type Name = 'tuned' | 'plain' | 'forge';

interface Measured {
  requests: number;
  /** Processor time a request, in microseconds. */
  requestCpu: number;
  archive: number;
  archiveCpu: number;
}

await measure();

async function measure(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-bench-'));
  // nginx gives up its rights and must still read the files.
  await chmod(folder, 0o755);
  await layOut(folder);
  const children = ['upstream', 'tuned', 'plain'].map((name) => spawnNginx(folder, name));
  try {
    const daemon = await startBareDaemon(UPSTREAM_URL);
    const tuned = { url: `http://127.0.0.1:${TUNED}`, pid: await workerOf(folder, 'tuned') };
    const plain = { url: `http://127.0.0.1:${PLAIN}`, pid: await workerOf(folder, 'plain') };
    await run('taskset', ['-cp', '1', `${await workerOf(folder, 'upstream')}`]);
    for (const { pid } of [tuned, plain, daemon]) await run('taskset', ['-acp', '0', `${pid}`]);
    const rounds: Record<Name, Measured>[] = [];
    // The first round, in which the engine still compiles, does not count.
    for (let round = 0; round <= ROUNDS; round += 1) {
      rounds.push({
        tuned: await oneRound(tuned),
        plain: await oneRound(plain),
        forge: await oneRound(daemon),
      });
    }
    report(rounds.slice(1), 'tuned');
    report(rounds.slice(1), 'plain');
    await daemon.close();
    if (FORGE_URL === undefined) await reportMemory();
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await rm(folder, { recursive: true, maxRetries: 20, retryDelay: 100 });
  }
}

async function layOut(folder: string): Promise<void> {
  const repo = join(folder, 'www/api/v1/repos/o/r');
  await mkdir(join(repo, 'archive'), { recursive: true });
  const small = JSON.stringify({
    id: 1,
    title: 'x'.repeat(200),
    body: 'y'.repeat(400),
    user: { login: 'root' },
  });
  const archive = createWriteStream(join(repo, 'archive/main.tar.gz'));
  for (let piece = 0; piece < 1024; piece += 1) {
    if (!archive.write(Buffer.alloc(MIB, piece))) await once(archive, 'drain');
  }
  archive.end();
  await once(archive, 'finish');
  const headers =
    'add_header X-Total-Count 12; add_header Cache-Control "max-age=0, private, must-revalidate, no-transform"; add_header X-Content-Type-Options nosniff;';
  const site = `default_type application/json; root ${folder}/www; client_max_body_size 0; ${headers} location ${UPLOAD_PATH} { return 200 "{}"; } location ${JSON_PATH} { return 200 '${small}'; }`;
  await writeFile(
    join(folder, 'upstream.conf'),
    configuration(folder, 'upstream', `${QUICK} server { listen 127.0.0.1:${UPSTREAM}; ${site} }`),
  );
  const pool = `upstream forge { server ${new URL(UPSTREAM_URL).host}; keepalive 64; keepalive_requests 1000000; }`;
  const forwarded =
    'proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $host;';
  const pass = `location / { proxy_pass http://forge; proxy_http_version 1.1; proxy_set_header Connection ""; ${forwarded} }`;
  await writeFile(
    join(folder, 'tuned.conf'),
    configuration(
      folder,
      'tuned',
      `${QUICK} ${pool} server { listen 127.0.0.1:${TUNED}; ${pass} }`,
    ),
  );
  const log = `access_log ${folder}/access.log; tcp_nopush on; types_hash_max_size 2048; gzip on;`;
  const bare = `server { listen 127.0.0.1:${PLAIN}; location / { proxy_pass ${UPSTREAM_URL}; } }`;
  await writeFile(join(folder, 'plain.conf'), configuration(folder, 'plain', `${log} ${bare}`));
}

function configuration(folder: string, name: string, servers: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}/${name}-${kind};`)
    .join(' ');
  return `worker_processes 1; daemon off; pid ${folder}/${name}.pid; error_log ${folder}/${name}.log; events { worker_connections 1024; }
http { sendfile on; ${temporary} ${servers} }`;
}

function spawnNginx(folder: string, name: string): ChildProcess {
  return spawn('nginx', ['-c', join(folder, `${name}.conf`), '-e', join(folder, `${name}.log`)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** The process that does an nginx's work: the only child of its master. */
async function workerOf(folder: string, name: string): Promise<number> {
  const master = (await readFile(join(folder, `${name}.pid`), 'utf8')).trim();
  const children = await readFile(`/proc/${master}/task/${master}/children`, 'utf8');
  return Number(children.trim().split(' ')[0]);
}

async function oneRound({ url, pid }: Proxy): Promise<Measured> {
  const begin = cpuSeconds(pid);
  const { stdout } = await run('taskset', [
    '-c',
    '1',
    'wrk',
    '-t1',
    '-c32',
    '-d3s',
    '--timeout',
    '20s',
    url + JSON_PATH,
  ]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`cannot measure ${url}: ${stdout}`);
  const before = cpuSeconds(pid);
  const download =
    FORGE_URL !== undefined
      ? { stdout: '' }
      : await run('taskset', [
          '-c',
          '1',
          'curl',
          '-sf',
          '-o',
          '/dev/null',
          '-w',
          '%{speed_download}',
          url + ARCHIVE_PATH,
        ]);
  const count = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  return {
    requests: Number(/Requests\/sec:\s*([\d.]+)/.exec(stdout)?.[1]),
    requestCpu: ((before - begin) / count) * 1e6,
    archive: Number(download.stdout) / MIB,
    archiveCpu: cpuSeconds(pid) - before,
  };
}

function report(rounds: Record<Name, Measured>[], other: Name): void {
  const line = (what: string, unit: string, value: (measured: Measured) => number): void => {
    const [nginx, forge] = [
      median(rounds.map((one) => value(one[other]))),
      median(rounds.map((one) => value(one.forge))),
    ];
    const ratio = median(rounds.map((one) => value(one.forge) / value(one[other])));
    process.stdout.write(
      `${what}: ${other} nginx ${nginx.toFixed(2)}, forge ${forge.toFixed(2)} ${unit}; ratio ${ratio.toFixed(2)}\n`,
    );
  };
  line('small JSON', 'requests/s', ({ requests }) => requests);
  line('small JSON', 'CPU µs a request', ({ requestCpu }) => requestCpu);
  if (FORGE_URL !== undefined) return;
  line('1 GiB archive', 'MiB/s', ({ archive }) => archive);
  line('1 GiB archive', 'CPU s', ({ archiveCpu }) => archiveCpu);
}

/** How far resident memory rises over rest while a body passes, in a fresh daemon each. */
async function reportMemory(): Promise<void> {
  const upload = 'curl -sf -o /dev/null -X POST -H Expect: -T -';
  const bodies: [string, (url: string) => string][] = [
    ['1 GiB down', (url) => `curl -sf -o /dev/null ${url}${ARCHIVE_PATH}`],
    [
      '20 MiB/s down for 5 s',
      (url) => `curl -s -m 5 --limit-rate 20M -o /dev/null ${url}${ARCHIVE_PATH}; true`,
    ],
    ['1 GiB up', (url) => `head -c 1073741824 /dev/zero | ${upload} ${url}${UPLOAD_PATH}`],
    [
      '20 MiB/s up, 100 MiB',
      (url) => `head -c 104857600 /dev/zero | ${upload} --limit-rate 20M ${url}${UPLOAD_PATH}`,
    ],
  ];
  for (const [what, command] of bodies) {
    const daemon = await startBareDaemon(UPSTREAM_URL);
    await (await fetch(daemon.url + JSON_PATH)).arrayBuffer();
    const rest = await daemon.resting();
    await run('sh', ['-c', command(daemon.url)]);
    process.stdout.write(
      `${what}: at rest ${rest.toFixed(1)} MB, peak ${(daemon.peakMb() - rest).toFixed(1)} MB over it\n`,
    );
    await daemon.close();
  }
}
