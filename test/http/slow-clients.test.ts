import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';

import { daemonOfFile } from '../support/daemon-of-file.ts';

const daemon = daemonOfFile({ set: ['main.auth=password'] });

function open(text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1', () => {
      socket.write(text);
      resolve(socket);
    });
    socket.on('error', reject);
  });
}

/**
 * Sends the text and then a drop now and again; gives what came back when the daemon has closed the
 * connection.
 */
async function dribble(text: string, drop: string): Promise<string> {
  const socket = await open(text);
  let answer = '';
  const timer = setInterval(() => socket.writable && socket.write(drop), 300);
  socket.removeAllListeners('error').on('error', () => undefined);
  socket.setEncoding('utf8').on('data', (piece: string) => (answer += piece));
  await new Promise((resolve) => socket.on('close', resolve));
  clearInterval(timer);
  return answer;
}

const PASSWORD =
  'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\npassword=';

test.concurrent.for([
  [
    'headers',
    'GET /healthz HTTP/1.1\r\n',
    'X: y\r\n',
    408,
    'cannot read the request: its headers took more than 20 s',
  ],
  ['no request at all', '', '', 408, 'cannot read the request: its headers took more than 20 s'],
  [
    'a form',
    `POST /cgi-bin/panel/admin/login HTTP/1.1\r\nHost: localhost\r\n${PASSWORD}`,
    'x',
    408,
    'cannot read a form that takes more than 10 s',
  ],
  [
    'a body that is refused',
    'POST /cgi-bin/panel/admin/store/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n',
    'x',
    403,
    'cannot answer without a log-in',
  ],
  [
    'a body that nobody asked for',
    'GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n',
    'x',
    200,
    '"status":"ok"',
  ],
  [
    'such a body in chunks',
    'GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n',
    '1\r\nx\r\n',
    200,
    '"status":"ok"',
  ],
] as const)(
  'a stranger who sends %s drop by drop gets an answer and loses the connection',
  async ([, text, drop, status, part]) => {
    const answer = await dribble(text, drop);

    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain(part);
  },
);

test('so many connections are held and no more, and those that go make room', async () => {
  const sockets = await Promise.all(
    Array.from({ length: 1200 }, () => open('GET /healthz HTTP/1.1\r\n').catch(() => undefined)),
  );
  const closed = new Set<Socket>();
  for (const socket of sockets) {
    socket
      ?.removeAllListeners('error')
      .on('error', () => undefined)
      .on('close', () => closed.add(socket));
  }

  await expect
    .poll(
      () =>
        sockets.filter((socket) => socket === undefined || socket.destroyed || closed.has(socket))
          .length,
      { timeout: 15_000 },
    )
    .toBeGreaterThanOrEqual(200);
  expect(
    sockets.filter((socket) => socket !== undefined && !socket.destroyed).length,
  ).toBeGreaterThan(900);
  for (const socket of sockets) socket?.destroy();

  await expect
    .poll(
      () =>
        daemon.get('/healthz').then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 15_000 },
    )
    .toBe(200);
});
