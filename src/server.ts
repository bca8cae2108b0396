import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { parseListenAddress, type ListenAddress } from './config/listen-address.ts';
import { DepotError, ERROR_STATUS, reasonOf } from './errors.ts';
import { putShortcutBefore, type Shortcut } from './forge/shortcut/shortcut.ts';
import type { Front } from './front.ts';
import type { Log } from './log.ts';

/** The listeners. They can change while the daemon runs; connections on a listener that stays are not touched. */
export interface Listeners {
  /** Opens what is new, all of it or nothing, and closes what is gone. @throws DepotError unavailable that names the address */
  listen: (addresses: readonly string[]) => Promise<void>;
  /** Takes no more connections and waits for answers under way, at most `graceMs`. */
  close: (graceMs: number) => Promise<void>;
}

/** A client gets this long to send its request's headers. */
const HEADERS_TIMEOUT_MS = 20_000;
/** One that believes in the announced keep-alive time may just be sending. */
const SENDING_MS = 1000;

/** Who answers: the front of the configuration in force, or what stands in for it. */
export type Door = Pick<Front, 'handle' | 'take'>;

interface Listener {
  server: Server;
  shortcut: Shortcut;
}

export function createListeners(door: Door, log: Log): Listeners {
  const open = new Map<string, Listener>();
  return {
    listen: async (addresses) => {
      const fresh = await openAll(addresses.filter((address) => !open.has(address)), door);
      for (const [address, listener] of fresh) {
        open.set(address, listener);
        log.info(describe(address, listener.server), 'listening');
      }
      for (const [address, listener] of open) {
        if (addresses.includes(address)) continue;
        open.delete(address);
        void closeListener(address, listener, 0);
      }
    },
    close: async (graceMs) => {
      await Promise.all([...open].map(([address, listener]) => closeListener(address, listener, graceMs)));
    },
  };
}

/** Opens all or none: an address of a configuration that is not taken over must not stay open under the one that stays. */
async function openAll(addresses: readonly string[], door: Door): Promise<Map<string, Listener>> {
  const opened = new Map<string, Listener>();
  try {
    for (const address of addresses) if (!opened.has(address)) opened.set(address, await openListener(address, door));
    return opened;
  } catch (error) {
    await Promise.all([...opened].map(([address, listener]) => closeListener(address, listener, 0)));
    throw error;
  }
}

async function openListener(text: string, { handle, take }: Door): Promise<Listener> {
  const address = parseListenAddress(text);
  // Uploads over a slow line take their time, so the whole request has no limit; its headers have.
  const server = createServer({ requestTimeout: 0, headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 5000, requireHostHeader: false }, handle);
  server.on('clientError', refuseClient);
  // Node's own answers to a missing Host and to an Expect it does not know have no body; the handler's have (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handle);
  const shortcut = putShortcutBefore(server, { take, firstRequestMs: HEADERS_TIMEOUT_MS, keepAliveMs: server.keepAliveTimeout + SENDING_MS });
  if (address.kind === 'unix') await removeStaleSocket(address.path);
  try {
    await listenOn(server, address);
  } catch (error) {
    throw new DepotError('unavailable', `cannot listen on ${text}: ${reasonOf(error)}`, { cause: error });
  }
  return { server, shortcut };
}

function listenOn(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const done = (): void => {
      server.off('error', reject);
      if (address.kind === 'unix') chmodSync(address.path, 0o600);
      resolve();
    };
    if (address.kind === 'tcp') {
      server.listen({ host: address.host, port: address.port, ipv6Only: address.host.includes(':') }, done);
      return;
    }
    // Nobody may connect between the socket's birth and its mode.
    const mask = process.umask(0o177);
    server.listen({ path: address.path }, done);
    process.umask(mask);
  });
}

/** A socket file that nobody answers on is what a killed daemon left. One that somebody answers on is not ours to remove. */
function removeStaleSocket(path: string): Promise<void> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve();
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') rmSync(path, { force: true });
      resolve();
    });
  });
}

function describe(address: string, server: Server): object {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return { address };
  return { address, host: bound.address, port: (bound satisfies AddressInfo).port };
}

async function closeListener(address: string, { server, shortcut }: Listener, graceMs: number): Promise<void> {
  const closeIdle = (): void => {
    server.closeIdleConnections();
    shortcut.closeIdle();
  };
  const closeAll = (): void => {
    server.closeAllConnections();
    shortcut.closeAll();
  };
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  closeIdle();
  const timer = setTimeout(closeAll, graceMs);
  // A connection that has had its answer is kept alive by its client; it is closed as soon as it is idle.
  const sweep = setInterval(closeIdle, 50);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
  if (address.startsWith('unix:')) rmSync(address.slice('unix:'.length), { force: true });
}

/** What Node's parser refuses is told in JSON, too. */
function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const status = isTooLarge ? ERROR_STATUS.header_too_large : ERROR_STATUS.bad_request;
  const msg = isTooLarge ? 'cannot read the request: its headers are too large' : 'cannot read the request: it is not HTTP';
  const body = JSON.stringify({ code: status, msg });
  const reason = isTooLarge ? 'Request Header Fields Too Large' : 'Bad Request';
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
}
