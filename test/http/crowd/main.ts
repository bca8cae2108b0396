import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { startNginx } from '../../packaging/web-server.ts';
import { ask, type Question } from '../../support/ask.ts';
import { createOwner } from '../../support/owner.ts';
import { gather } from './crowd.ts';
import { MANNERS } from './manners.ts';

/**
 * `main.ts direct|nginx MANNER [TIMES]`, in a network of its own in which 10.77.0.0/24 is this
 * host's: eight addresses hold 125 connections each, and the owner logs in from a ninth, eight times
 * or as often as told, and over the unix socket. Prints the answers' statuses, one a line.
 */
const PASSWORD = 'correct horse';
const HOST = '10.77.0.254';
const STRANGERS = Array.from({ length: 8 }, (_, index) => `10.77.0.${index + 1}`);
const OWNER = { localAddress: '10.77.0.9' };
const EACH = 125;
/** A browser's user would wait for so long. */
const LIMIT_MS = 15_000;
/** Most of them, whatever the daemon closes and they open again. */
const CROWD = 700;
/** What OpenWrt's init script gives the daemon. */
const NODE_FLAGS = ['--max-old-space-size=64'];

const [way = '', manner = '', logIns = '8'] = process.argv.slice(2);
const device = await createDevice();
const socketPath = join(device.root, 'depotd.sock');
const daemon = await startDaemon(device, {
  set: ['main.auth=password', 'main.listen=0.0.0.0:0', `main.listen=unix:${socketPath}`],
  nodeFlags: NODE_FLAGS,
});
while (!existsSync(socketPath)) await delay(20);
await createOwner(daemon).setFirstPassword(PASSWORD);
const nginx =
  way === 'nginx'
    ? await startNginx(daemon.url, { host: HOST, events: 'worker_connections 8192;' })
    : undefined;
const port = nginx === undefined ? await portOf(daemon) : Number(new URL(nginx.url).port);
const path = `${daemon.base}/admin/login`;

async function portOf({ log }: TestDaemon): Promise<number> {
  for (;;) {
    const line = log.findLast((entry) => entry.includes('"host":"0.0.0.0"'));
    if (line !== undefined) return (JSON.parse(line) as { port: number }).port;
    await delay(20);
  }
}

async function logIn(question: Question): Promise<number> {
  const url = `http://${HOST}:${port}${path}`;
  const answer = ask(url, { method: 'POST', form: { password: PASSWORD }, ...question });
  const status = answer.then(
    (known) => known.status,
    () => 0,
  );
  return Promise.race([status, delay(LIMIT_MS, -1, { ref: false })]);
}

// All of a proxy's clients share 30 wrong passwords, but for who has logged in before.
await logIn(OWNER);
const crowd = gather({
  port,
  host: HOST,
  from: STRANGERS,
  each: EACH,
  manners: MANNERS[manner] ?? [],
});
for (let index = 0; index < Number(logIns); index += 1) {
  while (crowd.open() < CROWD) await delay(20);
  console.log(await logIn(OWNER));
}
console.log(await logIn({ socketPath, headers: { host: 'localhost' } }));
console.error(/VmHWM.*/.exec(readFileSync(`/proc/${daemon.pid}/status`, 'latin1'))?.[0]);
crowd.leave();
await nginx?.close();
await daemon.close();
await device.close();
