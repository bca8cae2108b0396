import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { canonicalAddress } from '../../config/ip-address.ts';
import { isOnThisHost } from '../../http/peer.ts';
import type { HeaderLines } from './header-lines.ts';
import type { CallerView } from './headers.ts';
import type { ForgeTarget } from './target.ts';

/** A caller's request without its body, which only requests read by Node's own server have. */
export type CallerRequest = Pick<
  IncomingMessage,
  'method' | 'url' | 'rawHeaders' | 'headers' | 'socket'
> & { common?: CommonPart };

/** What requests of one connection with the very same headers have in common. */
export interface CommonPart {
  /** Header lines as they go to the forge, once they were needed. */
  outgoing: string | undefined;
}

/** What answers a caller; Node's own response is one. */
export interface CallerResponse {
  headersSent: boolean;
  statusCode: number;
  /** Whether the caller has gone. */
  readonly destroyed: boolean;
  writeHead(status: number, reason: string, lines: HeaderLines): unknown;
  /** Writes the head now; else it goes together with the first bytes of the body. */
  flushHeaders(): void;
  /** @returns whether more may be written at once */
  write(piece: Buffer, done: () => void): boolean;
  /** @param text the rest of the body, one byte a character */
  end(text: string, encoding: 'latin1'): unknown;
  /** Breaks the connection. */
  destroy(): unknown;
  /** The answer is over, or the caller has gone. */
  once(event: 'close', listener: () => void): unknown;
}

/**
 * What the forge is told about the caller, set afresh from the connection: whoever could send these
 * fields could be anybody (docs/reference/forge.md). A caller on a unix socket has no address.
 */
export function forwardedHeaders(request: CallerRequest): HeaderLines {
  const { socket, headers } = request;
  const address = socket.remoteAddress;
  const lines = ['X-Forwarded-Proto', socket instanceof TLSSocket ? 'https' : 'http'];
  if (address !== undefined) lines.unshift('X-Forwarded-For', canonicalAddress(address));
  if (headers.host !== undefined) lines.push('X-Forwarded-Host', headers.host);
  return lines;
}

/** Where paging links must lead: the address that the caller used. */
export function callerView(
  request: CallerRequest,
  { apiRoot, target }: { apiRoot: string; target: ForgeTarget },
): CallerView {
  return {
    apiRoot,
    origin: `${schemeOf(request)}://${request.headers.host ?? 'localhost'}${target.mount}`,
  };
}

/**
 * A web server on this host ends TLS for us and says so; it alone may, and only for the links that
 * go back to the same caller.
 */
function schemeOf({ socket, headers }: CallerRequest): 'http' | 'https' {
  if (socket instanceof TLSSocket) return 'https';
  return isOnThisHost(socket) && headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
}
