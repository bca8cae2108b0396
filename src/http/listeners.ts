import { once } from 'node:events';
import { lstatSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { parseListenAddress, type ListenAddress } from '../config/listen-address.ts';
import { DepotError, reasonOf, systemCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { HEADERS_TIMEOUT_MS, KEEP_ALIVE_MS, type ConnectionHook } from './connection-hook.ts';
import {
  CONNECTION_BOUNDS,
  createConnections,
  type Connection,
  type Connections,
} from './connections.ts';
import { MOST_FIELDS } from './guard.ts';
import { isOnThisHost, type Ends } from './peer.ts';
import { createRequestGate } from './request-gate.ts';
import { refuseUnreadable } from './unreadable.ts';

/** Listeners can change while the daemon runs; connections on one that stays are not touched. */
export type Listeners = ReturnType<typeof createListeners>;

/** Limit from the end of an answer: a body that it did not wait for has to end by then. */
const UNREAD_BODY_MS = 10_000;
/** The system accepts so many more, so that the listener's own bounds decide. */
const SPARE_CONNECTIONS = 24;

/** Who answers: the configuration in force, or what stands in for it. */
export interface Answering {
  handle: RequestListener;
  /** The hook that has each new connection first; undefined if there is none. */
  hook: ConnectionHook | undefined;
}

interface Listener {
  server: Server;
  connections: Connections;
}

export interface ListenerOptions {
  /** Asked for each connection and each request. */
  answering: () => Answering;
  log: Log;
  /** Gives back the memory of short-lived objects, in about a millisecond. */
  collectYoung: () => void;
  /** Told of each connection that is taken in. */
  follow: (socket: Socket) => void;
}

export function createListeners(options: ListenerOptions) {
  const { log } = options;
  const open = new Map<string, Listener>();
  let owner: Listener | undefined;
  return {
    /** Opens what is new, all or none, and closes what is gone. @throws DepotError unavailable */
    listen: async (addresses: readonly string[]): Promise<void> => {
      const fresh = await openAll(
        addresses.filter((address) => !open.has(address)),
        options,
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
    /** The unix socket at which whoever connects is the owner. @throws DepotError unavailable */
    listenForOwner: async (path: string): Promise<void> => {
      owner = await openListener(`unix:${path}`, options);
      log.info({ address: `unix:${path}` }, 'listening for root');
    },
    // Compared by listener, not by path: another listener may have the path by now.
    /** Whether a connection came in at the owner's socket. */
    isForOwner: ({ server }: Ends): boolean => server !== undefined && server === owner?.server,
    /** Takes no more connections and waits for answers under way, at most `graceMs`. */
    close: async (graceMs: number): Promise<void> => {
      const all = owner === undefined ? open.values() : [...open.values(), owner];
      await Promise.all([...all].map((listener) => closeListener(listener, graceMs)));
    },
  };
}

/** Opens all or none: an address of a refused configuration must not stay open. */
async function openAll(addresses: readonly string[], options: ListenerOptions) {
  const opened = new Map<string, Listener>();
  try {
    for (const address of addresses) {
      if (!opened.has(address)) opened.set(address, await openListener(address, options));
    }
    return opened;
  } catch (error) {
    await Promise.all([...opened.values()].map((listener) => closeListener(listener, 0)));
    throw error;
  }
}

async function openListener(text: string, options: ListenerOptions): Promise<Listener> {
  const { answering } = options;
  const address = parseListenAddress(text);
  // Uploads over a slow line take their time, so the whole request has no limit; its headers have.
  const server = createServer({
    requestTimeout: 0,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 5000,
    requireHostHeader: false,
  });
  const connections = acceptThrough(server, options);
  server.on('request', (request, response) => answering().handle(request, response));
  server.on('request', closeWhereUnread);
  // The parser keeps no more than these, and one that tells that there were more.
  server.maxHeadersCount = MOST_FIELDS + 1;
  server.maxConnections = CONNECTION_BOUNDS.all + SPARE_CONNECTIONS;
  server.on('clientError', refuseUnreadable);
  // Node's own answers to a missing Host and to an Expect it does not know have no body; the
  // handler's have (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  if (address.kind === 'unix') await removeStaleSocket(address.path);
  try {
    await listenOn(server, address);
  } catch (error) {
    throw new DepotError('unavailable', `cannot listen on ${text}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  return { server, connections };
}

/** In the place of the server's own listener for connections, which gets those that it serves. */
function acceptThrough(server: Server, options: ListenerOptions): Connections {
  const { answering, collectYoung, follow } = options;
  const connections = createConnections();
  const followThrough = createRequestGate(server, collectYoung);
  const serve = server.listeners('connection');
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    const connection: Connection = {
      socket,
      since: performance.now(),
      address: socket.remoteAddress,
      activity: () => 'idle',
    };
    // A closed connection has no address: it must not pass for one of this host.
    const isGone = socket.remoteAddress === undefined && !isOnThisHost(socket);
    if (isGone || !connections.admit(connection)) {
      socket.destroy();
      return;
    }
    follow(socket);
    const handOver = (): void => {
      for (const listener of serve) listener.call(server, socket);
      connection.activity = followThrough(socket);
    };
    const hooked = answering().hook?.(socket, {
      handOver,
      refuseLate: () => refuseLate(server, socket),
    });
    if (hooked === undefined) handOver();
    else connection.activity = hooked;
  });
  return connections;
}

function refuseLate(server: Server, socket: Socket): void {
  const error = Object.assign(new Error('no request came'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  if (!server.emit('clientError', error, socket)) socket.destroy();
}

/** A client that has had the answer and goes on sending would hold the connection for ever. */
function closeWhereUnread(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    if (request.complete) return;
    const timer = setTimeout(() => request.socket.destroy(), UNREAD_BODY_MS).unref();
    request.socket.once('close', () => clearTimeout(timer));
    request.once('end', () => clearTimeout(timer));
  });
}

async function listenOn(server: Server, address: ListenAddress): Promise<void> {
  if (address.kind === 'tcp') {
    const { host, port } = address;
    server.listen({ host, port, ipv6Only: host.includes(':') });
  } else {
    // Born with its mode, 0600: a chmod afterwards would follow a link put in its place.
    const mask = process.umask(0o177);
    server.listen({ path: address.path });
    process.umask(mask);
  }
  await once(server, 'listening');
}

/** A socket file that nobody answers on is what a killed daemon left; any other is not ours. */
async function removeStaleSocket(path: string): Promise<void> {
  const probe = connect(path);
  try {
    await once(probe, 'connect');
    probe.destroy();
  } catch (error) {
    if (systemCode(error) !== 'ECONNREFUSED') return;
    // It is the system's answer for a file that is no socket as well (unix(7)).
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry?.isSocket() === true) rmSync(path, { force: true });
  }
}

function describe(address: string, server: Server): object {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return { address };
  return { address, host: bound.address, port: (bound satisfies AddressInfo).port };
}

/** Node removes a socket file with its listener; what stands there later is somebody else's. */
async function closeListener({ server, connections }: Listener, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  connections.closeIdle();
  const timer = setTimeout(connections.closeAll, graceMs);
  // A connection that its client keeps alive is closed as soon as it is idle.
  const sweep = setInterval(connections.closeIdle, 50);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
}
