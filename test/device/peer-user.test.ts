import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { createPeerUsers } from '../../src/device/peer-user.ts';
import { runCommand } from './command.ts';

async function acceptFrom(host: string, start: (port: number) => unknown): Promise<Socket> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ host, port: 0 }, resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  start((server.address() as AddressInfo).port);
  const socket = await accepted;
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  return socket;
}

test.for(['127.0.0.1', '::1'])('the user at the other end of %s is known', async (host) => {
  const socket = await acceptFrom(host, (port) => {
    const client = connect(port, host);
    onTestFinished(() => void client.destroy());
  });

  expect(await createPeerUsers()(socket)).toBe(process.getuid?.());
});

test.runIf(process.getuid?.() === 0)('another user is told from root', async () => {
  const socket = await acceptFrom('127.0.0.1', (port) => {
    const program = `process.setuid(65534); require('node:net').connect(${port}, '127.0.0.1')`;
    void runCommand([process.execPath, '-e', program]);
  });

  expect(await createPeerUsers()(socket)).toBe(65534);
});

test('an end that was closed belongs to nobody, and not to root', async () => {
  const socket = await acceptFrom('127.0.0.1', (port) => {
    const client = connect(port, '127.0.0.1', () => client.destroy());
  });
  await new Promise((resolve) => socket.resume().once('end', resolve));

  expect(await createPeerUsers()(socket)).toBeUndefined();
});

test('where there are no tables nothing is told', async () => {
  const ends = {
    localAddress: '127.0.0.1',
    localPort: 1,
    remoteAddress: '127.0.0.1',
    remotePort: 2,
  };

  expect(await createPeerUsers('/nonexistent')(ends)).toBeUndefined();
});
