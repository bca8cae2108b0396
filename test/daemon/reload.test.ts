import { spawn, type ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { Agent, createServer as createHttpServer, request } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { DAEMON_PROGRAM } from '../device/daemon-process.ts';
import { createDevice, type Device } from '../device/device.ts';
import { ask } from '../support/ask.ts';
import { openEvents } from '../support/event-reader.ts';
import { freePort } from '../support/free-port.ts';

let device: Device;
let other: Server;
let daemon: ChildProcess;
let ended: Promise<unknown>;
let config: string;
let log: string;

beforeEach(async () => {
  device = await createDevice();
  other = await listen();
  config = join(device.root, 'depotd.config');
});

afterEach(async () => {
  daemon.kill('SIGTERM');
  await ended;
  other.close();
  await device.close();
});

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** All in the file, so that reading it again can change it. */
async function configure(auth: string, ports: readonly number[], more = ''): Promise<void> {
  const lists = ports.map((port) => `\tlist listen '127.0.0.1:${port}'\n`).join('');
  await writeFile(
    config,
    `config depotd main\n\toption root '${device.root}'\n\toption auth '${auth}'\n${lists}${more}`,
  );
}

/**
 * Starts it with the file alone, since what the command line sets stays when the file is read
 * again.
 */
async function launch(): Promise<void> {
  log = '';
  daemon = spawn(process.execPath, [DAEMON_PROGRAM, '--config', config], {
    env: device.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  ended = new Promise((resolve) => daemon.on('exit', resolve));
  daemon.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text));
  // The owner's socket is there before it.
  await logged('"event":"listening"');
}

function logged(event: string): Promise<void> {
  return expect.poll(() => log).toContain(event);
}

async function reload(event: string): Promise<void> {
  daemon.kill('SIGHUP');
  await logged(event);
}

test('an address of a configuration that is not taken over does not stay open without its log-in', async () => {
  const [first, second] = [await freePort(), await freePort()];
  await configure('none', [first]);
  await launch();
  await configure('password', [first, second, portOf(other)]);
  await reload('configuration not taken over');

  await expect(ask(`http://127.0.0.1:${second}/healthz`)).rejects.toThrow('ECONNREFUSED');
  expect((await ask(`http://127.0.0.1:${first}/cgi-bin/panel/admin/store/token`)).status).toBe(200);
});

test('an event stream that was opened without log-in ends when the configuration asks for one', async () => {
  const [port] = [await freePort()];
  await configure('none', [port]);
  await launch();
  const stream = await openEvents(`http://127.0.0.1:${port}/cgi-bin/panel/admin/system/events`);
  await configure('password', [port]);
  await reload('configuration read again');

  expect(await stream.rest()).toEqual([]);
});

test('a log-in that the configuration asks for from now on counts at once', async () => {
  const [first, second] = [await freePort(), await freePort()];
  await configure('none', [first]);
  await launch();
  await configure('password', [first, second]);
  await reload('configuration read again');

  const statuses = await Promise.all(
    [first, second].map(
      async (port) =>
        (await ask(`http://127.0.0.1:${port}/cgi-bin/panel/admin/store/token`)).status,
    ),
  );
  expect(statuses).toEqual([403, 403]);
});

test('a forge that is set, changed or unset counts at once, on connections that are open, too', async () => {
  const forges = ['one', 'two'].map((name) =>
    createHttpServer((_, response) => response.end(name)).listen(0, '127.0.0.1'),
  );
  const port = await freePort();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const section = (forge: Server | undefined): string =>
    forge === undefined
      ? ''
      : `config forge\n\toption upstream 'http://127.0.0.1:${portOf(forge)}'\n`;
  const read = async (own: Agent | undefined): Promise<string> => {
    const options = {
      port,
      path: '/api/v1/repos/o/r/pulls',
      ...(own === undefined ? {} : { agent: own }),
    };
    return new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', ...options }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        answer.on('end', () => resolve(answer.statusCode === 503 ? 'none' : text));
      });
      asked.on('error', reject).end();
    });
  };
  await configure('none', [port]);
  await launch();
  const answers = [[await read(agent), await read(undefined)]];
  for (const forge of [forges[0], forges[1], undefined, forges[0]]) {
    await configure('none', [port], section(forge));
    log = '';
    await reload('configuration read again');
    answers.push([await read(agent), await read(undefined)]);
  }
  agent.destroy();
  for (const forge of forges) forge.close();

  expect(answers).toEqual(['none', 'one', 'two', 'none', 'one'].map((name) => [name, name]));
});
