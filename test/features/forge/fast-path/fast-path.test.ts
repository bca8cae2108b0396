import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, Socket, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parsePlainRequest } from '../../../../src/features/forge/fast-path/plain-request.ts';
import {
  createFastPath,
  type FastPathOptions,
} from '../../../../src/features/forge/fast-path/fast-path.ts';
import { askRaw, listen, startDevice, type Device } from '../device.ts';
import { putBefore } from '../hooked-server.ts';

const PATH = '/api/v1/repos/o/r/raw/';
const DATE = 'Date: Sat, 21 Nov 2026 08:00:00 GMT\r\n';
const BIG = 'b'.repeat(100_000);

/** What the upstream answers, by the end of the path. */
const ANSWERS: Record<string, string> = {
  small: `HTTP/1.1 200 OK\r\n${DATE}Content-Length: 2\r\nLink: <http://h/api/v1/x?page=2>; rel="next"\r\n\r\nok`,
  large: `HTTP/1.1 200 Fine\r\n${DATE}Content-Length: ${BIG.length}\r\n\r\n${BIG}`,
  chunked: `HTTP/1.1 200 OK\r\n${DATE}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  nothing: `HTTP/1.1 200 OK\r\n${DATE}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  absent: `HTTP/1.1 204 No Content\r\n${DATE}X-Total-Count: 0\r\n\r\n`,
  unchanged: `HTTP/1.1 304 Not Modified\r\n${DATE}ETag: "x"\r\n\r\n`,
  missing: `HTTP/1.1 404 Not Found\r\n${DATE}Content-Length: 0\r\nSet-Cookie: a=\xe4\r\n\r\n`,
  bytes: `HTTP/1.1 500 \r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>\xff\x00</p>`,
  wrong: 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
};

let upstream: Server;
let short: Device;
let long: Device;

beforeAll(async () => {
  upstream = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (piece) =>
      socket.write(ANSWERS[/raw\/(\w+)/.exec(piece.toString('latin1'))?.[1] ?? ''] ?? '', 'latin1'),
    );
  });
  const url = `http://127.0.0.1:${await listen(upstream)}`;
  short = await startDevice({ upstream: url });
  long = await startDevice({ upstream: url, isLong: true });
});

beforeEach(() => {
  short.shortcuts.length = 0;
});

afterAll(async () => {
  await short.close();
  await long.close();
  upstream.close();
});

/**
 * Writes each text when the answers so far are as many as the texts before it, and returns all that
 * came when the connection ended.
 */
async function converse(port: number, texts: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  let received = '';
  socket.on('data', (piece) => {
    received += piece.toString('latin1');
  });
  for (const text of texts) {
    const before = received.length;
    socket.write(text, 'latin1');
    while (!socket.destroyed && !isWhole(received.slice(before))) {
      await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    }
  }
  if (!socket.destroyed) await once(socket, 'close');
  return received;
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const [head, body] = [answer.slice(0, end), answer.slice(end + 4)];
  if (/Transfer-Encoding: chunked/.test(head)) return body.endsWith('0\r\n\r\n');
  return body.length >= Number(/Content-Length: (\d+)/.exec(head)?.[1] ?? 0);
}

function get(path: string, ...headers: string[]): string {
  return `GET ${path} HTTP/1.1\r\n${['Host: nas', ...headers].join('\r\n')}\r\n\r\n`;
}

test.each(Object.keys(ANSWERS))(
  'an answer is the same byte for byte on the short way as through the whole server: %s',
  async (kind) => {
    const texts = [
      get(PATH + kind),
      get(PATH + kind, 'Connection: keep-alive'),
      get(PATH + kind, 'connection: Close'),
    ];
    const [direct, whole] = await Promise.all([
      converse(short.port, texts),
      converse(long.port, texts),
    ]);
    const own = ['bytes', 'wrong'].includes(kind) ? /Date: [^\r]*/g : /$^/;
    expect(direct.replace(own, '')).toBe(whole.replace(own, ''));
    expect(direct).toMatch(/^HTTP\/1\.1 \d+ /);
    expect(short.shortcuts).toHaveLength(3);
    expect(long.shortcuts).toHaveLength(0);
  },
);

test.each([
  [
    'two requests at once',
    get(`${PATH}small`) + get(`${PATH}small`, 'Connection: close'),
    [200, 200],
  ],
  [
    'a body',
    `GET ${PATH}small HTTP/1.1\r\nHost: nas\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc`,
    [200],
  ],
  [
    'a header that comes twice',
    get(`${PATH}small`, 'X-A: 1', 'x-a: 2', 'Connection: close'),
    [200],
  ],
  [
    'a header folded over two lines',
    get(`${PATH}small`, 'X-A: 1\r\n 2', 'Connection: close'),
    [400],
  ],
  ['HTTP/1.0', `GET ${PATH}small HTTP/1.0\r\nHost: nas\r\n\r\n`, [200]],
  ['a trailer announced', get(`${PATH}small`, 'TE: trailers', 'Connection: close, TE'), [200]],
])('%s goes the long way, and is answered there', async (_, text, statuses) => {
  const answers = await askRaw(short.port, text);
  expect([...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).toEqual(
    statuses,
  );
  expect(short.shortcuts).toEqual([]);
});

test('a head that comes byte by byte is answered', async () => {
  const socket = connect({ port: short.port, host: '127.0.0.1', noDelay: true });
  const answer = new Promise<string>((resolve) =>
    socket.once('data', (piece) => resolve(piece.toString('latin1'))),
  );
  for (const byte of get(`${PATH}small`)) {
    await new Promise((resolve) => socket.write(byte, resolve));
  }
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  socket.destroy();
});

test('a connection goes from the short way to the long one with any request, and all are answered in order', async () => {
  const post = `POST /api/v1/repos/o/r/contents/raw/small HTTP/1.1\r\nHost: nas\r\nContent-Length: 2\r\n\r\n{}`;
  const answers = await converse(short.port, [
    get(`${PATH}small`),
    post,
    get(`${PATH}missing`),
    get('/elsewhere', 'Connection: close'),
  ]);
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual([
    'HTTP/1.1 200',
    'HTTP/1.1 200',
    'HTTP/1.1 404',
    'HTTP/1.1 418',
  ]);
  expect(short.shortcuts).toEqual([`${PATH}small`]);
});

test('what comes while an answer is under way is answered after it', async () => {
  const socket = connect(short.port, '127.0.0.1');
  const pieces: Buffer[] = [];
  socket.on('data', (piece) => pieces.push(piece));
  socket.write(get(`${PATH}large`));
  await once(socket, 'data');
  socket.write(get(`${PATH}missing`));
  socket.write(get(`${PATH}small`, 'Connection: close'));
  await once(socket, 'close');
  expect(
    Buffer.concat(pieces)
      .toString('latin1')
      .match(/HTTP\/1\.1 \d+/g),
  ).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200']);
});

const MANY = Array.from({ length: 200 }, (_, at) => `x${at}:\r\n`).join('');
test.each([
  ['a bare LF', 'GET /x HTTP/1.1\nHost: nas\r\n\r\n'],
  ['a bare LF between headers', 'GET /x HTTP/1.1\r\nHost: nas\nX: 1\r\n\r\n'],
  ['a bare CR', 'GET /x HTTP/1.1\r\nHost: nas\rX: 1\r\n\r\n'],
  ['a NUL', 'GET /x HTTP/1.1\r\nHost: n\0s\r\n\r\n'],
  ['a blank before the colon', 'GET /x HTTP/1.1\r\nHost : nas\r\n\r\n'],
  ['a first line that is folded', 'GET /x HTTP/1.1\r\n Host: nas\r\n\r\n'],
  ['no host', 'GET /x HTTP/1.1\r\nX: nas\r\n\r\n'],
  ['no headers', 'GET /x HTTP/1.1\r\n\r\n'],
  ['two hosts', 'GET /x HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n'],
  ['two lengths', 'GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'],
  ['a coding', 'GET /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['another protocol', 'GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'],
  ['an expectation', 'GET /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n'],
  [
    'headers named by Connection',
    'GET /x HTTP/1.1\r\nHost: a\r\nConnection: close, Authorization\r\n\r\n',
  ],
  ['absolute form', 'GET http://x/ HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a blank in the target', 'GET /x y HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a byte above ASCII in the target', 'GET /\xe4 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['another method', 'HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['another version', 'GET /x HTTP/1.2\r\nHost: a\r\n\r\n'],
  ['a line before it', '\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['bytes behind it', 'GET /x HTTP/1.1\r\nHost: a\r\n\r\nGET'],
  ['an empty line within', 'GET /x HTTP/1.1\r\nHost: a\r\n\r\nX: 1\r\n\r\n'],
  ['names that every object has', 'GET /x HTTP/1.1\r\nHost: a\r\n__proto__: 1\r\n\r\n'],
  ['a head that is too long', `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(9000)}\r\n\r\n`],
  ['too many fields', `GET /x HTTP/1.1\r\nHost: a\r\n${MANY}\r\n`],
])('what has %s is not plain', (_, text) => {
  expect(parsePlainRequest(Buffer.from(text, 'latin1'), new Socket())).toBeUndefined();
});

test('a plain request is read as Node reads it, each byte of it', () => {
  const request = parsePlainRequest(
    Buffer.from(
      'GET /a%2Fb?c HTTP/1.1\r\nHOST:nas\r\nX-A: \t\xc3\xa0 \t\r\nX_b:\r\n\r\n',
      'latin1',
    ),
    new Socket(),
  );
  expect(request).toMatchObject({
    url: '/a%2Fb?c',
    rawHeaders: ['HOST', 'nas', 'X-A', '\xc3\xa0', 'X_b', ''],
    headers: { host: 'nas', 'x-a': '\xc3\xa0' },
  });
});

test('a caller that sends nothing is let go in time; one under way is not', async () => {
  const server = createHttpServer();
  let finish = (): void => undefined;
  const hook = createFastPath({
    handle: (_, response) => {
      finish = () => {
        response.writeHead(200, 'OK', ['Content-Length', '2']);
        response.end('ok', 'latin1');
      };
      return true;
    },
    firstRequestMs: 50,
    keepAliveMs: 50,
    stalledMs: 50,
  });
  const connections = putBefore(server, hook);
  const port = await listen(server);
  expect(await askRaw(port, '')).toBe('');
  const asked = askRaw(port, get('/x', 'Connection: close'));
  await once(connect(port, '127.0.0.1'), 'close');
  expect(connections.map((activity) => activity())).toContain('busy');
  finish();
  expect(await asked).toMatch(/ok$/);
  server.close();
});

const LARGE = 'x'.repeat(16 * 1024 ** 2);

function answerLarge(...[, response]: Parameters<FastPathOptions['handle']>): boolean {
  response.writeHead(200, 'OK', ['Content-Length', `${LARGE.length}`]);
  response.end(LARGE, 'latin1');
  return true;
}

test('a caller that is slow to take the end of an answer gets it whole, also while the daemon stops', async () => {
  const server = createHttpServer();
  const limits = { firstRequestMs: 20, keepAliveMs: 20, stalledMs: 20_000 };
  const connections = putBefore(server, createFastPath({ handle: answerLarge, ...limits }));
  const socket = connect(await listen(server), '127.0.0.1').on('error', () => undefined);
  socket.pause();
  socket.write(get('/x', 'Connection: keep-alive'));
  await once(socket, 'readable');
  // Longer than both limits, and so long that nothing moves.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(connections.map((activity) => activity())).toEqual(['draining']);
  let bytes = 0;
  socket.on('data', (piece) => (bytes += piece.length));
  await once(socket, 'close');
  expect(bytes).toBeGreaterThan(LARGE.length);
  server.close();
});

test('a caller that takes nothing of an answer loses the connection in time', async () => {
  const server = createHttpServer();
  const limits = { firstRequestMs: 20, keepAliveMs: 20, stalledMs: 50 };
  putBefore(server, createFastPath({ handle: answerLarge, ...limits }));
  const closed = new Promise((resolve) =>
    server.on('connection', (socket: Socket) => socket.on('close', resolve)),
  );
  const socket = connect(await listen(server), '127.0.0.1').on('error', () => undefined);
  socket.pause();
  socket.write(get('/x', 'Connection: keep-alive'));
  await closed;
  socket.destroy();
  server.close();
});
