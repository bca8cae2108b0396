import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';

/**
 * One client that sends many requests at once, and reads the answers late or never, costs the
 * daemon no more memory than one request at a time, whatever it asks for.
 */
const REQUESTS = 300;
const CONNECTIONS = 4;
/** Resident memory under it all; at rest it is some 55 MB. */
const MOST_MB = 110;

let device: Device;
let forge: Server;
let daemon: TestDaemon;
const sockets = new Set<Socket>();

beforeAll(async () => {
  device = await createDevice();
  forge = createServer((_, response) => response.end('x'.repeat(20_000)));
  await new Promise<void>((resolve) => forge.listen(0, '127.0.0.1', resolve));
  const { port } = forge.address() as AddressInfo;
  daemon = await startDaemon(device, {
    set: [`forge.upstream=http://127.0.0.1:${port}`],
    nodeFlags: await installedFlags(),
  });
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

afterAll(async () => {
  await daemon.close();
  forge.closeAllConnections();
  forge.close();
  await device.close();
});

/** As the installed program starts Node. */
async function installedFlags(): Promise<string[]> {
  const script = await readFile(
    new URL('../../packaging/files/depotd', import.meta.url).pathname,
    'utf8',
  );
  const flags = /^exec "\$node" (.*) \/usr\/lib\/depotd/m.exec(script)?.[1]?.split(' ') ?? [];
  expect(flags).toContain('--max-old-space-size=64');
  return flags;
}

function open(): Socket {
  const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.add(socket);
  return socket;
}

/** Sends the requests at once and reads nothing. */
function flood(method: string, path: string): void {
  const request = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n`;
  for (let count = 0; count < CONNECTIONS; count += 1) {
    const socket = open();
    socket.pause();
    socket.write(request.repeat(REQUESTS));
  }
}

/** While the flood is worked on; each answer lets the daemon's other work go on between. */
async function expectAlive(): Promise<void> {
  for (let count = 0; count < 15; count += 1) {
    expect((await daemon.get('/healthz')).status).toBe(200);
  }
  const status = await readFile(`/proc/${daemon.pid}/status`, 'utf8');
  expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024).toBeLessThan(MOST_MB);
}

test('no path ends the daemon, or takes its memory, when it is asked for 300 times at once', async () => {
  const { paths } = (await (await daemon.get('openapi.json')).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ path, method: method.toUpperCase() })),
  );
  expect(routes.length).toBeGreaterThan(60);

  for (const { path, method } of [...routes, { path: '/nowhere', method: 'GET' }]) {
    flood(method, `${path.replace(/\{\w+\}/g, '1')}?package=demo&name=demo`);
    await expectAlive();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  }
}, 300_000);

test('blank lines before a request, or in a body that nobody reads, cost next to no time', async () => {
  const before = await processorSeconds();
  const blank = '\r\n'.repeat(4 * 1024 ** 2);
  for (const text of [
    `${blank}GET /last HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    `GET /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${blank.length}\r\n\r\n${blank}GET /last HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  ]) {
    let answers = '';
    const socket = open();
    socket.setEncoding('latin1').on('data', (piece: string) => (answers += piece));
    socket.write(text);
    await expect.poll(() => answers).toContain('cannot find /last');
  }

  const spent = (await processorSeconds()) - before;
  expect(spent).toBeLessThan(2);
});

test('a form in chunks of one byte takes the memory of its bytes', async () => {
  for (let count = 0; count < CONNECTIONS; count += 1) {
    open().write(
      `POST ${daemon.base}/admin/store/update HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(64_000)}`,
    );
  }
  await expectAlive();
});

test('edits of pull requests that nobody ends are not kept until they fill the memory', async () => {
  for (let count = 0; count < 64; count += 1) {
    open().write(
      `PATCH /api/v1/repos/o/r/pulls/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(1_000_000)}`,
    );
  }
  await expectAlive();
});

/** User and system time of the daemon so far (proc(5), stat: in hundredths of a second). */
async function processorSeconds(): Promise<number> {
  const fields = (await readFile(`/proc/${daemon.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ');
  return (Number(fields?.[11]) + Number(fields?.[12])) / 100;
}

describe('the answers', () => {
  async function converse(text: string, end: RegExp): Promise<string> {
    const socket = open();
    let answers = '';
    socket.setEncoding('latin1').on('data', (piece: string) => (answers += piece));
    socket.write(text, 'latin1');
    await expect.poll(() => end.test(answers.slice(-200))).toBe(true);
    return answers;
  }
  const statuses = (answers: string): string[] =>
    [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = '']) => status);
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

  test('all come, each in its place', async () => {
    const texts = Array.from({ length: REQUESTS }, (_, index) =>
      get(index % 3 === 0 ? '/healthz' : `/nowhere/${index}`),
    );
    const answers = await converse(`${texts.join('')}${get('/last')}`, /cannot find \/last"\}$/);

    expect(statuses(answers)).toEqual([
      ...texts.map((_, index) => (index % 3 === 0 ? '200' : '404')),
      '404',
    ]);
    const positions = [...answers.matchAll(/nowhere\/(\d+)/g)].map(([, place]) => Number(place));
    expect(positions).toEqual([...positions].sort((one, other) => one - other));
    expect(positions).toHaveLength(200);
  });

  test('bodies between the requests belong to theirs', async () => {
    const form = 'a=1\r\n\r\n&b=2&token=wrong';
    const post = `POST ${daemon.base}/admin/store/update HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n`;
    const whole = `${post}Content-Length: ${form.length}\r\n\r\n${form}`;
    const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n3\r\na=1\r\n0\r\n\r\n`;
    const answers = await converse(
      (whole + get('/healthz') + chunked).repeat(20) + get('/last'),
      /cannot find \/last"\}$/,
    );

    expect(statuses(answers)).toEqual([
      ...Array.from({ length: 20 }, () => ['403', '200', '403']).flat(),
      '404',
    ]);
  });

  test('what follows the answer that closes the connection has no effect', async () => {
    const tasks = async (): Promise<number> =>
      Object.keys((await (await daemon.get('admin/system/tasks/status')).json()) as object).length;
    const before = await tasks();
    const socket = open();
    const token = await daemon.token();
    socket
      .resume()
      .write(
        `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\nPOST ${daemon.base}/admin/store/update?token=${token} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      );
    await new Promise((resolve) => socket.on('close', resolve));

    expect(await tasks()).toBe(before);
  });

  test('a client that reads late gets all of them', async () => {
    const socket = open();
    socket.pause();
    socket.write(get(`${daemon.base}/openapi.json`).repeat(REQUESTS) + get('/last'));
    for (let count = 0; count < 50; count += 1) await daemon.get('/healthz');
    let [text, count] = ['', 0];
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text = (text + piece).slice(-70_000);
      count += piece.split('"openapi":"3.1.0"').length - 1;
    });
    socket.resume();

    await expect.poll(() => text.endsWith('cannot find /last"}')).toBe(true);
    expect(count).toBeGreaterThan(REQUESTS - 10);
  });
});
