import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { watch } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import { asOfAnotherBoot } from '../../support/power-cut.ts';
import { createFleetDevice, planOf, type FleetDevice } from './fleet-device.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

/**
 * Settings that cut the line to the server, as root: `npm run test:cut [ROUNDS]`. All of it is in a
 * network namespace of its own; the server is behind a link to another one, which goes down while
 * the settings are so. In the four kinds of rounds the daemon lives on, is killed at the change or
 * some time after it, or goes down with the device.
 */
const ROUNDS = Number(process.argv[2] ?? 20);
const BEFORE = "config interface 'wan'\n\toption proto 'dhcp'\n";
const NEAR = '10.99.0.1';
const FAR = '10.99.0.2';
const PORTS = { device: 8731, far: 8732 };
const KINDS = ['lives on', 'killed at the change', 'killed later', 'power gone'] as const;
const ip = (words: string): Promise<unknown> => promisify(execFile)('ip', words.split(' '));

let applied: Promise<void> = Promise.resolve();
const server = await createStandIn();
const { far } = await layLine(Number(new URL(server.url).port));
const on = await createFleetDevice(
  { ...server, url: `http://127.0.0.1:${PORTS.device}` },
  { set: ['fleet.allow=settings', 'fleet.settings=network.wan.proto', 'fleet.reach_s=4'] },
);
const config = join(on.device.root, 'etc/config/network');
await writeFile(config, BEFORE);
const set = await server.publish([
  planOf({ version: 1, settings: { 'network.wan.proto': 'none' } }),
]);
const watcher = watch(join(on.device.root, 'etc/config'), () => void applySettings());
let back = 0;
try {
  for (let round = 0; round < ROUNDS; round += 1) {
    const kind = KINDS[round % KINDS.length] ?? 'lives on';
    const { isBack, seconds } = await goThrough(server, on, kind);
    back += isBack ? 1 : 0;
    process.stdout.write(`${round + 1} ${kind}: ${isBack ? 'back' : 'LOST'} after ${seconds} s\n`);
  }
} finally {
  watcher.close();
  far.kill();
  await on.close();
  await server.close();
}
process.stdout.write(`${back} of ${ROUNDS} back\n`);
process.exit(back === ROUNDS ? 0 : 1);

/** Daemon, relay, link, relay in the other namespace, link, relay, server. */
async function layLine(serverPort: number): Promise<{ far: ChildProcess }> {
  await ip('link set lo up');
  const relay = [
    "const {connect,createServer}=require('node:net')",
    `createServer((a)=>{const b=connect(${PORTS.far},'10.99.1.1');a.pipe(b).pipe(a);` +
      "a.on('error',()=>b.destroy());b.on('error',()=>a.destroy())})" +
      `.listen(${PORTS.far},'${FAR}',()=>console.log('ready'))`,
  ].join(';');
  const wait = `until ip link show v3 >/dev/null 2>&1; do sleep 0.1; done`;
  const up = `ip addr add ${FAR}/24 dev v1; ip addr add 10.99.1.2/24 dev v3; ip link set v1 up; ip link set v3 up`;
  const child = spawn(
    'unshare',
    ['-n', 'sh', '-c', `${wait}; ${up}; exec "$@"`, 'sh', process.execPath, '-e', relay],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  await delay(500);
  await ip('link add v0 type veth peer name v1');
  await ip('link add v2 type veth peer name v3');
  await ip(`link set v1 netns ${child.pid ?? 0}`);
  await ip(`link set v3 netns ${child.pid ?? 0}`);
  await ip(`addr add ${NEAR}/24 dev v0`);
  await ip('addr add 10.99.1.1/24 dev v2');
  await ip('link set v0 up');
  await ip('link set v2 up');
  await new Promise((resolve) => child.stdout.once('data', resolve));
  passOn({ port: PORTS.far, host: '10.99.1.1' }, { port: serverPort, host: '127.0.0.1' });
  // On a device the server is asked 15 s after the reload: by then the settings are in force.
  const near = { port: PORTS.device, host: '127.0.0.1' };
  passOn(near, { port: PORTS.far, host: FAR }, applySettings);
  return { far: child };
}

interface Place {
  port: number;
  host: string;
}

function passOn(from: Place, to: Place, before = (): Promise<void> => Promise.resolve()): void {
  const listener = createServer((near) => {
    near.on('error', () => near.destroy());
    void before().then(() => {
      const other = connect(to);
      near.pipe(other).pipe(near);
      near.on('close', () => other.destroy());
      other.on('error', () => near.destroy()).on('close', () => near.destroy());
    });
  });
  listener.listen(from).unref();
}

/** What netifd would make of the settings, one after the other. */
function applySettings(): Promise<void> {
  const apply = async (): Promise<void> => {
    const text = await readFile(config, 'utf8').catch(() => '');
    if (text !== '') await ip(`link set v0 ${text === BEFORE ? 'up' : 'down'}`);
  };
  return (applied = applied.then(apply));
}

async function goThrough(
  standIn: StandIn,
  device: FleetDevice,
  kind: (typeof KINDS)[number],
): Promise<{ isBack: boolean; seconds: number }> {
  const began = performance.now();
  const action = await standIn.assign(set, device.id);
  if (kind !== 'lives on') {
    // It answers when the server has, which may take longer than the settings are in force.
    void device.poll().catch(() => undefined);
    while ((await readFile(config, 'utf8')) === BEFORE) await delay(10);
    if (kind !== 'killed at the change') await delay(Math.random() * 4000);
    await device.daemon.kill('SIGKILL');
    if (kind === 'power gone') await asAnotherBoot(device);
    await device.daemon.restart();
  }
  const { status } = await device.over(action);
  const text = await readFile(config, 'utf8');
  const { stdout } = await promisify(execFile)('ip', ['-o', 'link', 'show', 'v0']);
  const isBack = status === 'error' && text === BEFORE && stdout.includes(',UP');
  return { isBack, seconds: Math.round((performance.now() - began) / 1000) };
}

async function asAnotherBoot({ device: { root } }: FleetDevice): Promise<void> {
  const state = join(root, 'etc/depotd');
  await asOfAnotherBoot(join(state, 'jobs.jsonl'));
  const folder = join(state, 'fleet/actions');
  for (const name of await readdir(folder)) await asOfAnotherBoot(join(folder, name));
}
