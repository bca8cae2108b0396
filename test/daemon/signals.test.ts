import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { send } from '../support/raw-request.ts';

let device: Device;
let daemon: TestDaemon;
let config: string;
let socketPath: string;

beforeAll(async () => {
  device = await createDevice();
  config = join(device.root, '..', 'depotd.conf');
  socketPath = join(device.root, 'tmp/depotd.sock');
  await writeFile(config, "config depotd 'main'\n\tlist hosts old.lan\n");
  daemon = await startDaemon(device, { config, set: [`main.listen=unix:${socketPath}`] });
});

afterAll(async () => {
  await daemon.close();
  await device.close();
});

const statusFor = async (host: string): Promise<number> =>
  (await send(`${daemon.url}/healthz`, { headers: { Host: host } })).status;
const hangUp = (): boolean => process.kill(daemon.pid, 'SIGHUP');

test('SIGHUP takes over a good configuration, and what is bound to the run stays', async () => {
  const token = await daemon.token();
  expect([await statusFor('old.lan'), await statusFor('new.lan')]).toEqual([200, 421]);

  await writeFile(config, "config depotd 'main'\n\tlist hosts new.lan\n\toption base /other\n");
  hangUp();
  await daemon.logged('configuration read again');

  expect([await statusFor('old.lan'), await statusFor('new.lan')]).toEqual([421, 200]);
  expect(await (await daemon.get('/other/admin/store/token')).json()).toEqual({ token });
  expect((await daemon.get('admin/store/token')).status).toBe(404);
});

test('SIGHUP with a bad configuration names what is wrong, and the running one stays', async () => {
  await writeFile(config, "config depotd 'main'\n\tlist hosts bad.lan\n\toption colour red\n");
  hangUp();

  const { reason } = await daemon.logged('configuration not taken over');

  expect(reason).toContain(`${config}:3: cannot use main.colour`);
  expect([await statusFor('new.lan'), await statusFor('bad.lan')]).toEqual([200, 421]);
});

test('SIGHUP with an option that needs a restart says so', async () => {
  await writeFile(
    config,
    "config depotd 'main'\n\tlist hosts new.lan\n\toption state_dir /etc/elsewhere\n",
  );
  hangUp();

  expect(await daemon.logged('options that apply after a restart only')).toMatchObject({
    options: ['main.state_dir'],
  });
});

test('a path of the forge that hides the panel is told when it comes into force', async () => {
  await writeFile(config, "config depotd 'forge'\n\toption path /admin/store\n");
  hangUp();

  expect((await daemon.logged('panel hidden by the forge')).reason).toMatch(
    /^forge\.path \/admin\/store with main\.base \S+ hides the panel/,
  );
});

test('no signal opens a debugger, which would be a port for every user of the device', async () => {
  await writeFile(config, "config depotd 'main'\n");
  await daemon.restart();
  const readings = daemon.log.filter((line) => line.includes('configuration read again')).length;
  process.kill(daemon.pid, 'SIGUSR1');
  hangUp();

  await expect
    .poll(() => daemon.log.filter((line) => line.includes('configuration read again')).length)
    .toBe(readings + 1);
  expect(daemon.log.filter((line) => /debugger|inspector/i.test(line))).toEqual([]);
});

test('a signal right after the daemon said that it listens is heeded', async () => {
  await writeFile(config, "config depotd 'main'\n");
  const readings = daemon.log.filter((line) => line.includes('configuration read again')).length;
  await daemon.restart();
  hangUp();

  await expect
    .poll(() => daemon.log.filter((line) => line.includes('configuration read again')).length)
    .toBe(readings + 1);
  await daemon.restart();
  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});

test('SIGTERM ends a daemon that had no descriptors when it was to watch the packages', async () => {
  const short = await startDaemon(device, {
    nodeFlags: [`--import=data:text/javascript,${encodeURIComponent(SHORT_ONCE_IT_LISTENS)}`],
    set: [`main.state_dir=${join(device.root, 'etc/short')}`],
  });
  await short.logged('cannot watch the package database: looking at it every second instead');
  await runCommand(['prlimit', '--pid', String(short.pid), '--nofile=1024:']);

  expect((await short.get('admin/store/installed')).status).toBe(200);
  expect(await short.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});

const SHORT_ONCE_IT_LISTENS = `
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once('listening', () => {
    const lowest = openSync('/dev/null');
    closeSync(lowest);
    spawnSync('prlimit', ['--pid', String(process.pid), '--nofile=' + lowest + ':']);
  });
  return listen.apply(this, args);
};`;

test('SIGTERM ends the daemon with 0 while somebody follows events, and their stream ends', async () => {
  await writeFile(config, "config depotd 'main'\n");
  await daemon.restart();
  const task = await daemon.submit('update');
  await daemon.finished(task);
  const stream = await daemon.get('admin/system/events');
  const reading = stream.text();

  expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });

  // One that was cut off when the grace was over would fail.
  expect(await reading).toMatch(/^:\n\n/);
  await expect(stat(socketPath)).rejects.toThrow('ENOENT');
});

test('a socket that a killed daemon left is taken over', async () => {
  await daemon.restart();
  await expect
    .poll(() =>
      stat(socketPath).then(
        (entry) => entry.isSocket(),
        () => false,
      ),
    )
    .toBe(true);
  await daemon.kill('SIGKILL');

  await daemon.restart();

  await expect
    .poll(() =>
      send('http://localhost/healthz', { socketPath }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
});

test('SIGTERM lets an answer under way be finished', async () => {
  const task = await daemon.submit('autoconf', { package: 'absent' });
  await daemon.finished(task);
  const size = Buffer.byteLength(await daemon.logOf(task));
  const waiting = await daemon.submit('install', { package: 'absent' });
  const answer = daemon.get(`admin/system/tasks/log?task_id=${task}&offset=${size}`);
  // Once this one is answered, the one before it is under way.
  await daemon.get('/healthz');

  expect(await daemon.kill('SIGINT')).toEqual({ code: 0, signal: null });
  expect([waiting.length, (await answer).status]).toEqual([32, 204]);
});
