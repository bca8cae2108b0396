// `npm run bench:relay`: requests a second for one small answer, asked of the daemon itself and of
// an uhttpd that hands on by its CGI program or by its own handler. All in one run, in turn, so that
// what else the machine does falls on all three. Bounded, and on loopback only. With the stand-ins
// the figures mean nothing: UHTTPD and UCODE name the real programs.
import { Agent, request } from 'node:http';
import { join } from 'node:path';

import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { RELAYS, startUhttpd } from '../packaging/web-server.ts';
import { median, report } from './measures.ts';

const CLIENTS = 8;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = 2;
const PATH = 'admin/store/token';

const device = await createDevice();
const socket = join(device.root, 'depotd.sock');
const daemon = await startDaemon(device, { set: [`main.listen=unix:${socket}`] });
const servers = await Promise.all(RELAYS.map((relay) => startUhttpd({ socket, relay })));
try {
  const targets = [
    { name: 'direct', url: daemon.url },
    ...RELAYS.map((name, at) => ({ name, url: servers[at]?.url ?? '' })),
  ];
  for (const keepAlive of [false, true]) await compare(targets, keepAlive);
} finally {
  await Promise.all(servers.map((server) => server.close()));
  await daemon.close();
  await device.close();
}

async function compare(
  targets: readonly { name: string; url: string }[],
  keepAlive: boolean,
): Promise<void> {
  const rates = targets.map(({ name }) => ({ name, perSecond: [] as number[] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, { url }] of targets.entries()) {
      rates[at]?.perSecond.push(await rateOf(`${url}${daemon.base}/${PATH}`, keepAlive));
    }
  }
  const figures = rates.map(({ name, perSecond }) => [`${name} /s`, median(perSecond)] as const);
  const [, cgi, handler] = rates.map(({ perSecond }) => median(perSecond));
  report(keepAlive ? 'connections kept' : 'a connection a request', {
    ...Object.fromEntries(figures),
    'handler : cgi': (handler ?? NaN) / (cgi ?? NaN),
  });
}

async function rateOf(url: string, keepAlive: boolean): Promise<number> {
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
  return answers / ((performance.now() - began) / 1000);
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
