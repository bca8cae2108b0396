import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import type { Activity } from '../../src/http/connection-hook.ts';
import {
  createConnections,
  type Connection,
  type Connections,
} from '../../src/http/connections.ts';

const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

let server: Server;

beforeAll(async () => {
  server = createServer((socket) => sockets.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterAll(() => server.close());

/** A connection as if from that address. */
async function connection(
  address: string | undefined,
  activity: Activity = 'idle',
  since = -Infinity,
): Promise<Connection> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.add(client.on('error', () => undefined));
  const [socket] = (await once(server, 'connection')) as [Socket];
  return { socket, since, address, activity: () => activity };
}

async function admitAll(
  connections: Connections,
  wanted: [address: string | undefined, activity?: Activity][],
): Promise<{ admitted: boolean[]; isOpen: boolean[] }> {
  const made: Connection[] = [];
  const admitted: boolean[] = [];
  for (const [address, activity] of wanted) {
    const one = await connection(address, activity);
    made.push(one);
    admitted.push(connections.admit(one));
  }
  return { admitted, isOpen: made.map(({ socket }) => !socket.destroyed) };
}

const BOUNDS = { all: 6, remote: 4, address: 2, local: 4 };

test('an address that has all its connections loses the one idle longest for the next', async () => {
  const { admitted, isOpen } = await admitAll(createConnections(BOUNDS), [
    ['192.0.2.1', 'busy'],
    ['192.0.2.1'],
    ['192.0.2.2'],
    ['192.0.2.1'],
    ['192.0.2.1', 'busy'],
  ]);

  expect(admitted).toEqual([true, true, true, true, true]);
  expect(isOpen).toEqual([true, false, true, false, true]);
});

test('who came just now does not count as idle, and keeps the place that a slow client lost', async () => {
  const connections = createConnections(BOUNDS);
  for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.2']) {
    connections.admit(await connection(address, 'receiving'));
  }
  const owner = await connection('192.0.2.9', 'idle', performance.now());

  expect(connections.admit(owner)).toBe(true);
  for (let more = 0; more < 3; more += 1) {
    const next = await connection(`192.0.2.${more + 3}`, 'receiving');
    expect(connections.admit(next)).toBe(true);
  }

  expect(owner.socket.destroyed).toBe(false);
});

test('the idle one goes first, then one that sends its request slowly, then one that reads slowly', async () => {
  const { isOpen } = await admitAll(createConnections({ ...BOUNDS, address: 3 }), [
    ['192.0.2.1', 'draining'],
    ['192.0.2.1', 'receiving'],
    ['192.0.2.1', 'idle'],
    ['192.0.2.1', 'busy'],
    ['192.0.2.1', 'busy'],
    ['192.0.2.1', 'busy'],
  ]);

  expect(isOpen).toEqual([false, false, false, true, true, true]);
});

test('a request under way is never ended for another: the new one is not let in', async () => {
  const { admitted, isOpen } = await admitAll(createConnections(BOUNDS), [
    ['192.0.2.1', 'busy'],
    ['192.0.2.1', 'busy'],
    ['192.0.2.1'],
    ['192.0.2.2'],
  ]);

  expect(admitted).toEqual([true, true, false, true]);
  expect(isOpen.slice(0, 2)).toEqual([true, true]);
});

test('the addresses of one IPv6 network count as one', async () => {
  const { admitted } = await admitAll(createConnections(BOUNDS), [
    ['2001:db8::1', 'busy'],
    ['2001:db8::2', 'busy'],
    ['2001:db8::3'],
    ['2001:db8:0:1::3'],
  ]);

  expect(admitted).toEqual([true, true, false, true]);
});

test('all other addresses together leave room for this host, and this host for them', async () => {
  const remote = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'];
  const strangers = createConnections(BOUNDS);
  const { admitted } = await admitAll(strangers, [
    ...remote.map((address): [string, Activity] => [address, 'busy']),
    ['127.0.0.1', 'busy'],
    [undefined, 'busy'],
    ['::1', 'busy'],
  ]);
  expect(admitted).toEqual([true, true, true, true, false, true, true, false]);

  const local = createConnections(BOUNDS);
  const own = await admitAll(local, [
    ...Array.from({ length: 5 }, (): [string, Activity] => ['::ffff:127.0.0.1', 'busy']),
    ...remote.map((address): [string, Activity] => [address, 'busy']),
  ]);
  expect(own.admitted).toEqual([
    ...[true, true, true, true, false],
    ...[true, true, false, false, false],
  ]);
});

test('when all is taken, whoever holds most gives way', async () => {
  const { admitted, isOpen } = await admitAll(createConnections({ ...BOUNDS, remote: 5 }), [
    ['192.0.2.1'],
    ['192.0.2.2'],
    ['192.0.2.2'],
    ['192.0.2.3'],
    ['192.0.2.4'],
    ['192.0.2.5'],
  ]);

  expect(admitted).toEqual([true, true, true, true, true, true]);
  expect(isOpen).toEqual([true, false, true, true, true, true]);
});

test('a connection that has gone leaves its room to the next', async () => {
  const connections = createConnections(BOUNDS);
  const first = await connection('192.0.2.1', 'busy');
  connections.admit(first);
  connections.admit(await connection('192.0.2.1', 'busy'));
  first.socket.destroy();
  await once(first.socket, 'close');

  expect(connections.admit(await connection('192.0.2.1', 'busy'))).toBe(true);
});
