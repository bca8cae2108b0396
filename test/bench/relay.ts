// `npm run bench:relay`: requests a second for one small answer, asked of the daemon itself and of
// an uhttpd that hands on by its CGI program or by its own handler. All in one run, in turn, so that
// what else the machine does falls on all three; and the processor time of uhttpd and its programs
// for each, which other work changes least. Bounded, and on loopback only. UHTTPD and UCODE name the
// real programs: of stand-ins the figures would mean nothing.
import { Agent, request } from 'node:http';
import { join } from 'node:path';

import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { RELAYS, startUhttpd } from '../packaging/web-server.ts';
import { childCpuSeconds, cpuSeconds, median, report } from './measures.ts';

const CLIENTS = 8;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = 2;
const PATH = 'admin/store/token';

if (process.env.UHTTPD === undefined || process.env.UCODE === undefined) {
  process.stderr.write(
    'cannot measure the relay: UHTTPD and UCODE have to name the real programs\n',
  );
  process.exit(1);
}
const device = await createDevice();
const socket = join(device.root, 'depotd.sock');
const daemon = await startDaemon(device, { set: [`main.listen=unix:${socket}`] });
const servers = await Promise.all(RELAYS.map((relay) => startUhttpd({ socket, relay })));
try {
  const targets = [
    { name: 'direct', url: daemon.url },
    ...RELAYS.map((name, at) => ({ name, ...webServer(at) })),
  ];
  for (const keepAlive of [false, true]) await compare(targets, keepAlive);
} finally {
  await Promise.all(servers.map((server) => server.close()));
  await daemon.close();
  await device.close();
}

interface Target {
  name: string;
  url: string;
  /** Of the web server, if there is one. */
  pid?: number;
}

function webServer(at: number): { url: string; pid: number } {
  const server = servers[at];
  if (server === undefined) throw new Error(`cannot find web server ${at}`);
  return server;
}

async function compare(targets: readonly Target[], keepAlive: boolean): Promise<void> {
  const rates = targets.map(({ name }) => ({
    name,
    perSecond: [] as number[],
    cpuMs: [] as number[],
  }));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, { url, pid = 0 }] of targets.entries()) {
      const before = pid === 0 ? NaN : cpuSeconds(pid) + childCpuSeconds(pid);
      const { perSecond, answers } = await rateOf(`${url}${daemon.base}/${PATH}`, keepAlive);
      rates[at]?.perSecond.push(perSecond);
      if (pid === 0) continue;
      const usedS = cpuSeconds(pid) + childCpuSeconds(pid) - before;
      rates[at]?.cpuMs.push((usedS * 1000) / answers);
    }
  }
  const figures = rates.flatMap(({ name, perSecond, cpuMs }) => [
    [`${name} /s`, median(perSecond)] as const,
    ...(cpuMs.length > 0 ? [[`${name} processor ms`, median(cpuMs)] as const] : []),
  ]);
  const [, cgi, handler] = rates.map(({ perSecond }) => median(perSecond));
  report(keepAlive ? 'connections kept' : 'a connection a request', {
    ...Object.fromEntries(figures),
    'handler : cgi': (handler ?? NaN) / (cgi ?? NaN),
  });
}

async function rateOf(
  url: string,
  keepAlive: boolean,
): Promise<{ perSecond: number; answers: number }> {
  const agent = new Agent({ keepAlive, maxSockets: CLIENTS });
  const began = performance.now();
  const end = began + SECONDS * 1000;
  let answers = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const status = await get(url, agent);
      if (status !== 200) throw new Error(`cannot measure ${url}: it answers ${status}`);
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  return { perSecond: answers / ((performance.now() - began) / 1000), answers };
}

function get(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
  });
}
