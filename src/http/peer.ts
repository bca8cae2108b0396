import type { Context } from 'hono';

/** Who is at the other end of the connection. */
export interface Peer {
  /** Its address; `unix` on a unix socket, `unknown` where the connection has gone. */
  address: string;
  /** Whether it is on this host: connected over a unix socket or from a loopback address. */
  isLocal: boolean;
}

/** What Node's own request tells of the connection. */
interface Connection {
  incoming?: {
    socket?: {
      remoteAddress?: string | undefined;
      /** The listener that took the connection; its address is a path for a unix socket. */
      server?: { address: () => unknown } | undefined;
    };
  };
}

/**
 * Told by the connection alone: what a header says, anybody can write. A connection that has gone has no address either, so a unix socket is recognised by its
 * listener, never by the lack of an address.
 */
export function peerOf(context: Context): Peer {
  const socket = (context.env as Connection | undefined)?.incoming?.socket;
  if (typeof socket?.server?.address() === 'string') return { address: 'unix', isLocal: true };
  const address = socket?.remoteAddress?.replace(/^::ffff:(?=\d+\.)/i, '');
  return { address: address ?? 'unknown', isLocal: address !== undefined && /^(127(\.\d{1,3}){3}|::1)$/.test(address) };
}

/** Whether the browser came over TLS, as a reverse proxy on this host says. */
export function isBehindTls(context: Context): boolean {
  return peerOf(context).isLocal && context.req.header('x-forwarded-proto')?.toLowerCase() === 'https';
}

/** What reverse proxies add: with one of these, a request from this host began somewhere else. */
const FORWARDING_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/** Whether the request was made on this host, and not handed on by a reverse proxy that says so. */
export function isFirstHand(context: Context): boolean {
  return peerOf(context).isLocal && FORWARDING_HEADERS.every((name) => context.req.header(name) === undefined);
}
