import { lstatSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { parseListenAddress, type ListenAddress } from '../config/listen-address.ts';
import { DepotError, ERROR_STATUS, reasonOf, type ErrorCode } from '../errors.ts';
import { putShortcutBefore, type Shortcut } from '../features/forge/fast-path/fast-path.ts';
import type { Front } from '../request-handler.ts';
import type { Log } from '../log.ts';

/**
 * The listeners. They can change while the daemon runs; connections on a listener that stays are
 * not touched.
 */
export interface Listeners {
  /**
   * Opens what is new, all of it or nothing, and closes what is gone. @throws DepotError
   * unavailable that names the address
   */
  listen: (addresses: readonly string[]) => Promise<void>;
  /** Takes no more connections and waits for answers under way, at most `graceMs`. */
  close: (graceMs: number) => Promise<void>;
}

/** A client gets this long to send its request's headers. */
const HEADERS_TIMEOUT_MS = 20_000;
/**
 * A client gets this long, from the end of the answer, to end a body that the answer did not wait
 * for.
 */
const UNREAD_BODY_MS = 10_000;
/**
 * Connections a listener holds at a time, some 20 KB each; further ones are closed. Far more than a
 * device's pages open, and less than a process may have files.
 */
const MOST_CONNECTIONS = 1000;
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
      const fresh = await openAll(
        addresses.filter((address) => !open.has(address)),
        door,
      );
      for (const [address, listener] of fresh) {
        open.set(address, listener);
        log.info(describe(address, listener.server), 'listening');
      }
      for (const [address, listener] of open) {
        if (addresses.includes(address)) continue;
        open.delete(address);
        void closeListener(listener, 0);
      }
    },
    close: async (graceMs) => {
      await Promise.all([...open.values()].map((listener) => closeListener(listener, graceMs)));
    },
  };
}

/**
 * Opens all or none: an address of a configuration that is not taken over must not stay open under
 * the one that stays.
 */
async function openAll(addresses: readonly string[], door: Door): Promise<Map<string, Listener>> {
  const opened = new Map<string, Listener>();
  try {
    for (const address of addresses) {
      if (!opened.has(address)) opened.set(address, await openListener(address, door));
    }
    return opened;
  } catch (error) {
    await Promise.all([...opened.values()].map((listener) => closeListener(listener, 0)));
    throw error;
  }
}

async function openListener(text: string, { handle, take }: Door): Promise<Listener> {
  const address = parseListenAddress(text);
  // Uploads over a slow line take their time, so the whole request has no limit; its headers have.
  const server = createServer(
    {
      requestTimeout: 0,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: 5000,
      requireHostHeader: false,
    },
    handle,
  );
  server.on('request', closeWhereUnread);
  server.maxConnections = MOST_CONNECTIONS;
  server.on('clientError', refuseClient);
  // Node's own answers to a missing Host and to an Expect it does not know have no body; the
  // handler's have (RFC 9110, section 10.1.1).
  server.on('checkExpectation', handle);
  const shortcut = putShortcutBefore(server, {
    take,
    firstRequestMs: HEADERS_TIMEOUT_MS,
    keepAliveMs: server.keepAliveTimeout + SENDING_MS,
  });
  if (address.kind === 'unix') await removeStaleSocket(address.path);
  try {
    await listenOn(server, address);
  } catch (error) {
    throw new DepotError('unavailable', `cannot listen on ${text}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return { server, shortcut };
}

/**
 * Whoever has had the answer and goes on sending a body that nobody reads would hold the connection
 * for ever.
 */
function closeWhereUnread(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    if (request.complete) return;
    const timer = setTimeout(() => request.socket.destroy(), UNREAD_BODY_MS).unref();
    request.socket.once('close', () => clearTimeout(timer));
    request.once('end', () => clearTimeout(timer));
  });
}

function listenOn(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const done = (): void => {
      server.off('error', reject);
      resolve();
    };
    if (address.kind === 'tcp') {
      server.listen(
        { host: address.host, port: address.port, ipv6Only: address.host.includes(':') },
        done,
      );
      return;
    }
    // Born with its mode, 0600: a chmod afterwards would follow a link that somebody put in its place.
    const mask = process.umask(0o177);
    server.listen({ path: address.path }, done);
    process.umask(mask);
  });
}

/**
 * A socket file that nobody answers on is what a killed daemon left. One that somebody answers on
 * is not ours to remove.
 */
function removeStaleSocket(path: string): Promise<void> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve();
    });
    probe.once('error', (error: NodeJS.ErrnoException) => {
      // Of a file that is no socket, too, the system says that nobody answers (unix(7)).
      if (error.code === 'ECONNREFUSED' && lstatSync(path).isSocket()) {
        rmSync(path, { force: true });
      }
      resolve();
    });
  });
}

function describe(address: string, server: Server): object {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return { address };
  return { address, host: bound.address, port: (bound satisfies AddressInfo).port };
}

/**
 * Node removes a socket file when it closes the listener; what stands there later is somebody
 * else's.
 */
async function closeListener({ server, shortcut }: Listener, graceMs: number): Promise<void> {
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
  // A connection that has had its answer is kept alive by its client; it is closed as soon as it is
  // idle.
  const sweep = setInterval(closeIdle, 50);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
}

/** What Node's parser refuses is told in JSON, too. */
function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, reason, why } = UNREADABLE[error.code ?? ''] ?? NO_HTTP;
  const status = ERROR_STATUS[code];
  const body = JSON.stringify({ code: status, msg: `cannot read the request: ${why}` });
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

interface Unreadable {
  code: ErrorCode;
  /** The status line's text. */
  reason: string;
  why: string;
}

/** By Node's code. */
const UNREADABLE: Record<string, Unreadable> = {
  HPE_HEADER_OVERFLOW: {
    code: 'header_too_large',
    reason: 'Request Header Fields Too Large',
    why: 'its headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'too_slow',
    reason: 'Request Timeout',
    why: `its headers took more than ${HEADERS_TIMEOUT_MS / 1000} s`,
  },
};
const NO_HTTP: Unreadable = { code: 'bad_request', reason: 'Bad Request', why: 'it is not HTTP' };
