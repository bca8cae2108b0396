import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What the daemon might answer, and what it got: a server in its place, on a unix socket and on a
 * port.
 */
export interface OddDaemon {
  readonly socket: string;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly close: () => Promise<void>;
}

export async function startOddDaemon(answer: RequestListener): Promise<OddDaemon> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-odd-'));
  const socket = join(folder, 'sock');
  const servers = [
    createServer(answer).listen(socket),
    createServer(answer).listen(0, '127.0.0.1'),
  ];
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return {
    socket,
    url: `http://127.0.0.1:${(servers[1]?.address() as AddressInfo).port}`,
    close: async () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
