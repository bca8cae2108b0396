import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';

const LOWEST = 10_000;

/**
 * A port that nobody listens on, for a program that does not choose one itself. It is below those
 * that the system gives to listeners on port 0 and to clients (ip(7), ip_local_port_range): one of
 * those might be another test's before the program listens.
 */
export async function freePort(): Promise<number> {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const highest = Number.parseInt(range, 10);
  for (let tries = 0; tries < 100; tries += 1) {
    const port = LOWEST + Math.floor(Math.random() * (highest - LOWEST));
    if (await isFree(port)) return port;
  }
  throw new Error(`cannot find a free port from ${LOWEST} to ${highest}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
