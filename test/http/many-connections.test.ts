import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';

import { afterEach, expect, test } from 'vitest';

import { daemonOfFile } from '../support/daemon-of-file.ts';
import { send } from '../support/raw-request.ts';

const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

const daemon = daemonOfFile({
  set: ['main.auth=password', 'main.listen=127.0.0.1:0', 'main.listen=0.0.0.0:0'],
});

const port = (host: string): number => {
  const line = daemon.log.findLast((entry) => entry.includes(`"host":"${host}"`)) ?? '{}';
  return (JSON.parse(line) as { port: number }).port;
};

async function occupy(count: number, host: string, text: string): Promise<void> {
  const at = port(host === '127.0.0.1' ? '127.0.0.1' : '0.0.0.0');
  for (let index = 0; index < count; index += 1) {
    const socket = connect(at, host).on('error', () => undefined);
    sockets.add(socket);
    if (text !== '') socket.write(text);
    await once(socket, 'connect');
  }
}

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const texts = {
  'nothing at all': '',
  'half of its headers': 'GET /healthz HTTP/1.1\r\n',
  'a log-in whose form does not come':
    'POST /cgi-bin/panel/admin/login HTTP/1.1\r\nHost: localhost\r\n' +
    `${FORM}\r\nContent-Length: 100\r\n\r\nx`,
  'a body that nobody reads':
    'GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nx',
};
test.each(Object.entries(texts))(
  '1,000 connections that send %s: the next client is answered at once',
  async (_, text) => {
    await occupy(1000, '127.0.0.1', text);
    const startedAt = performance.now();
    // A connection of its own: one kept from before may be closed while it is used again.
    const { status } = await send(`http://127.0.0.1:${port('127.0.0.1')}/healthz`);

    expect(status).toBe(200);
    // Those that hold the connections would lose them by themselves after 10 s at the earliest.
    expect(performance.now() - startedAt).toBeLessThan(5000);
  },
);

const [own] = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4');
test.runIf(own !== undefined)('one address holds a part of the listener only', async () => {
  await occupy(400, own?.address ?? '', 'GET /healthz HTTP/1.1\r\n');
  const closed = (): number => [...sockets].filter((socket) => socket.closed).length;

  await expect.poll(closed).toBe(400 - 128);
});
