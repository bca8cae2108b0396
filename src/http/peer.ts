import { isIP } from 'node:net';
import type { Context } from 'hono';
import { canonicalAddress, isLoopback } from '../config/ip-address.ts';

/** Who asks, as far as that can be believed: what a header says, anybody can write over TCP. */
export type Client = ReturnType<typeof clientOf>;

/** What Node tells of both ends. */
export interface Ends {
  remoteAddress?: string | undefined;
  localAddress?: string | undefined;
  remotePort?: number | undefined;
  localPort?: number | undefined;
  /** The listener that took the connection; its address is a path for a unix socket. */
  server?: { address: () => unknown } | undefined;
}

/**
 * A proxy on this host is believed whose request it hands on: the last element of X-Forwarded-For,
 * else of Forwarded (RFC 7239, section 5.2). Over loopback any program on this host may say so.
 */
export function clientOf(context: Context) {
  const socket = socketOf(context);
  const via = viaOf(socket);
  const isForwarded = via !== 'network' && !isFirstHand(context);
  const own = via === 'unix' ? 'unix' : plain(socket?.remoteAddress);
  const path = socket?.server?.address();
  return {
    /**
     * Address of the other end, or what a proxy on this host names; `unix` on a unix socket,
     * `unknown` if the proxy names nobody or the connection has gone.
     */
    address: (isForwarded ? namedClient(context) : own) ?? 'unknown',
    /** How it reached the daemon. */
    via,
    /** Whether a reverse proxy says that it handed the request on. */
    isForwarded,
    /** Path of the unix socket; undefined on any other. */
    socketPath: typeof path === 'string' ? path : undefined,
  };
}

function viaOf(socket: Ends | undefined): 'unix' | 'loopback' | 'network' {
  // A unix socket is known by its listener: a connection that has gone has no address.
  if (typeof socket?.server?.address() === 'string') return 'unix';
  return isLoopback(socket?.remoteAddress) ? 'loopback' : 'network';
}

/** What Node tells of the connection that a request came over. */
export function socketOf(context: Context): Ends | undefined {
  return (context.env as { incoming?: { socket?: Ends } } | undefined)?.incoming?.socket;
}

function namedClient({ req }: Context): string | undefined {
  const forwarded = /(?:^|;)\s*for="?([^";]+)/i.exec(lastOf(req.header('forwarded')) ?? '')?.[1];
  return addressIn(lastOf(req.header('x-forwarded-for'))) ?? addressIn(forwarded);
}

/** What the nearest proxy has added. */
function lastOf(header: string | undefined): string | undefined {
  return header?.split(',').at(-1);
}

/**
 * The address that the client called: that of this end of the connection, or the one that a program
 * on this host names when it hands a request on (RFC 7239, section 5.1). That it is an address
 * makes it safe: other web sites can have their names point here, but not this host's addresses.
 */
export function calledAddress(
  socket: Ends | undefined,
  forwarded: string | undefined,
): string | undefined {
  const by = addressIn(/(?:^|;)\s*by="?([^";]+)/i.exec(lastOf(forwarded) ?? '')?.[1]);
  return by !== undefined && isOnThisHost(socket) ? by : socket?.localAddress;
}

/** Whether the other end is on this host; not if the connection has gone: nobody knows. */
export function isOnThisHost(socket: Ends | undefined): boolean {
  return viaOf(socket) !== 'network';
}

/** One text for one address; IPv4 that came through an IPv6 socket is IPv4. */
function plain(address: string | undefined): string | undefined {
  return address === undefined ? undefined : canonicalAddress(address);
}

/** An address as the headers of proxies write it: IPv6 in brackets or not, with a port or not. */
function addressIn(text: string | undefined): string | undefined {
  const value = text?.trim() ?? '';
  // The first question of `isIP` takes 5 ms, a tenth of a start: it compiles what IPv6 looks like.
  if (value === '') return undefined;
  const address =
    /^\[([^\]]+)\](?::\d+)?$/.exec(value)?.[1] ??
    (isIP(value) === 6 ? value : value.replace(/:\d+$/, ''));
  return isIP(address) === 0 ? undefined : plain(address);
}

/** Whether the browser came over TLS, as a reverse proxy on this host says. */
export function isBehindTls(context: Context): boolean {
  return (
    isOnThisHost(socketOf(context)) &&
    context.req.header('x-forwarded-proto')?.toLowerCase() === 'https'
  );
}

/** What reverse proxies add: with one of these, a request from this host began somewhere else. */
const FORWARDING_HEADERS = [
  ...['forwarded', 'via', 'x-real-ip'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
];

/** Whether the request was made on this host, and not handed on by a reverse proxy that says so. */
export function isFirstHand(context: Context): boolean {
  return (
    isOnThisHost(socketOf(context)) &&
    FORWARDING_HEADERS.every((name) => context.req.header(name) === undefined)
  );
}
