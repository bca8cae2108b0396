import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createForge } from '../../src/forge/forge.ts';
import { createLog } from '../../src/log.ts';
import { ask, DEFAULTS, listen } from '../forge/device.ts';

/**
 * The forge half beside nginx as reverse proxy, both before the same upstream (another nginx), each on one core. Needs nginx, wrk, curl and
 * taskset, and two cores. Prints requests a second for small JSON, bytes a second and processor time for a 1 GiB archive, and resident memory.
 *
 *     node --import tsx test/bench/forge.ts
 */
const [UPSTREAM, NGINX] = [18_411, 18_412];
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const MIB = 1024 ** 2;
const JSON_PATH = '/api/v1/repos/o/r/pulls/1';
const ARCHIVE_PATH = '/api/v1/repos/o/r/archive/main.tar.gz';
const UPLOAD_PATH = '/api/v1/repos/o/r/contents/up';
const run = promisify(execFile);

if (process.env['SERVE'] === undefined) await measure();
else process.send?.(await serve());

interface Measured {
  requests: number;
  archive: number;
  cpuSeconds: number;
}

async function measure(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-bench-'));
  // nginx gives up its rights and must still read the files.
  await chmod(folder, 0o755);
  await layOut(folder);
  const children = [spawnNginx(folder, 'upstream'), spawnNginx(folder, 'proxy')];
  const daemon = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', import.meta.filename], { env: { ...process.env, SERVE: '1' }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  children.push(daemon);
  try {
    const [port] = (await once(daemon, 'message')) as [number];
    const nginxPid = await workerOf(folder, 'proxy');
    await run('taskset', ['-cp', '1', `${await workerOf(folder, 'upstream')}`]);
    await run('taskset', ['-acp', '0', `${daemon.pid ?? 0}`]);
    await run('taskset', ['-cp', '0', `${nginxPid}`]);
    await ask(port, JSON_PATH);
    const rest = await residentMb(daemon.pid);
    const rounds: { nginx: Measured; forge: Measured }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const nginx = await oneRound(NGINX, nginxPid);
      rounds.push({ nginx, forge: await oneRound(port, daemon.pid ?? 0) });
    }
    report(rounds);
    await reportMemory(port, daemon.pid, rest);
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await rm(folder, { recursive: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** The forge half alone, with the daemon's own log. @returns its port */
async function serve(): Promise<number> {
  const settings = { ...DEFAULTS, upstream: `http://127.0.0.1:${UPSTREAM}` };
  const nothing = (): void => undefined;
  const forge = createForge({ settings, base: '/cgi-bin/panel', cacheDir: '', log: createLog('info'), publish: nothing, session: () => Promise.resolve(undefined) });
  return listen(createServer((request, response) => forge.handle(request, response)));
}

async function layOut(folder: string): Promise<void> {
  const repo = join(folder, 'www/api/v1/repos/o/r');
  for (const name of ['pulls', 'archive']) await mkdir(join(repo, name), { recursive: true });
  await writeFile(join(repo, 'pulls/1'), JSON.stringify({ id: 1, title: 'x'.repeat(200), body: 'y'.repeat(400), user: { login: 'root' } }));
  const archive = createWriteStream(join(repo, 'archive/main.tar.gz'));
  for (let piece = 0; piece < 1024; piece += 1) if (!archive.write(Buffer.alloc(MIB, piece))) await once(archive, 'drain');
  archive.end();
  await once(archive, 'finish');
  const headers = 'add_header X-Total-Count 12; add_header Cache-Control "max-age=0, private, must-revalidate, no-transform"; add_header X-Content-Type-Options nosniff;';
  const site = `default_type application/json; root ${folder}/www; client_max_body_size 0; ${headers} location ${UPLOAD_PATH} { return 200 "{}"; }`;
  await writeFile(join(folder, 'upstream.conf'), configuration(folder, 'upstream', `server { listen 127.0.0.1:${UPSTREAM}; ${site} }`));
  const pool = `upstream forge { server 127.0.0.1:${UPSTREAM}; keepalive 64; keepalive_requests 1000000; }`;
  const forwarded = 'proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $host;';
  const pass = `location / { proxy_pass http://forge; proxy_http_version 1.1; proxy_set_header Connection ""; ${forwarded} }`;
  await writeFile(join(folder, 'proxy.conf'), configuration(folder, 'proxy', `${pool} server { listen 127.0.0.1:${NGINX}; ${pass} }`));
}

function configuration(folder: string, name: string, servers: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${name}-${kind};`).join(' ');
  return `worker_processes 1; daemon off; pid ${folder}/${name}.pid; error_log ${folder}/${name}.log; events { worker_connections 1024; }
http { access_log off; sendfile on; keepalive_requests 1000000; ${temporary} ${servers} }`;
}

function spawnNginx(folder: string, name: string): ChildProcess {
  return spawn('nginx', ['-c', join(folder, `${name}.conf`), '-e', join(folder, `${name}.log`)], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** The process that does an nginx's work: the only child of its master. */
async function workerOf(folder: string, name: string): Promise<number> {
  const master = (await readFile(join(folder, `${name}.pid`), 'utf8')).trim();
  const children = await readFile(`/proc/${master}/task/${master}/children`, 'utf8');
  return Number(children.trim().split(' ')[0]);
}

async function oneRound(port: number, pid: number): Promise<Measured> {
  const url = `http://127.0.0.1:${port}`;
  const load = await run('taskset', ['-c', '1', 'wrk', '-t1', '-c32', '-d3s', url + JSON_PATH]);
  const before = await cpuSeconds(pid);
  const download = await run('taskset', ['-c', '1', 'curl', '-sf', '-o', '/dev/null', '-w', '%{speed_download}', url + ARCHIVE_PATH]);
  const spent = (await cpuSeconds(pid)) - before;
  return { requests: Number(/Requests\/sec:\s*([\d.]+)/.exec(load.stdout)?.[1]), archive: Number(download.stdout) / MIB, cpuSeconds: spent };
}

/** User and system time; fields 14 and 15 of proc(5)'s stat, in hundredths of a second. */
async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, 'utf8');
  return Number(/VmRSS:\s*(\d+)/.exec(status)?.[1]) / 1024;
}

function report(rounds: { nginx: Measured; forge: Measured }[]): void {
  const line = (what: string, unit: string, value: (measured: Measured) => number): void => {
    const [nginx, forge] = [median(rounds.map((one) => value(one.nginx))), median(rounds.map((one) => value(one.forge)))];
    const ratio = median(rounds.map((one) => value(one.forge) / value(one.nginx)));
    process.stdout.write(`${what}: nginx ${nginx.toFixed(2)}, forge ${forge.toFixed(2)} ${unit}; ratio ${ratio.toFixed(2)}\n`);
  };
  line('small JSON', 'requests/s', ({ requests }) => requests);
  line('1 GiB archive', 'MiB/s', ({ archive }) => archive);
  line('1 GiB archive', 'CPU s', (measured) => measured.cpuSeconds);
}

/** Resident memory while bodies of 1 GiB go down and up, fast and slowly, over what it is before each. */
async function reportMemory(port: number, pid: number | undefined, rest: number): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const zeros = ['-X', 'POST', '-H', 'Expect:', '-H', 'Transfer-Encoding: chunked', '--data-binary', '@/dev/stdin', url + UPLOAD_PATH];
  const bodies: [string, string][] = [
    ['1 GiB down', `curl -sf -o /dev/null ${url}${ARCHIVE_PATH}`],
    ['20 MiB/s down for 5 s', `curl -s -m 5 --limit-rate 20M -o /dev/null ${url}${ARCHIVE_PATH}; true`],
    ['1 GiB up', `head -c 1073741824 /dev/zero | curl -sf -o /dev/null -T - ${zeros.slice(0, 4).join(' ')} ${zeros.at(-1) ?? ''}`],
  ];
  process.stdout.write(`resident at rest ${rest.toFixed(1)} MB, after the load ${(await residentMb(pid)).toFixed(1)} MB\n`);
  for (const [what, command] of bodies) {
    const before = await residentMb(pid);
    let peak = before;
    const sampler = setInterval(() => void residentMb(pid).then((now) => (peak = Math.max(peak, now))), 20);
    await run('sh', ['-c', command]);
    clearInterval(sampler);
    process.stdout.write(`${what}: peak ${peak.toFixed(1)} MB, ${(peak - before).toFixed(1)} MB over before\n`);
  }
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
