import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { isIP } from 'node:net';
import type { CallerView, HeaderLines } from './headers.ts';
import type { ForgeTarget } from './target.ts';

/**
 * What the forge is told about the caller, set afresh from the connection: whoever could send these fields could be anybody (facts/forge.md,
 * section 5.2). A caller on a unix socket has no address.
 */
export function forwardedHeaders(request: IncomingMessage): HeaderLines {
  const { socket, headers } = request;
  const address = socket.remoteAddress;
  return [
    ...(address === undefined ? [] : ['X-Forwarded-For', address.replace(/^::ffff:/, '')]),
    'X-Forwarded-Proto',
    socket instanceof TLSSocket ? 'https' : 'http',
    ...(headers.host === undefined ? [] : ['X-Forwarded-Host', headers.host]),
  ];
}

/** Where paging links must lead: the address that the caller used. */
export function callerView(request: IncomingMessage, { apiRoot, target }: { apiRoot: string; target: ForgeTarget }): CallerView {
  return { apiRoot, origin: `${schemeOf(request)}://${request.headers.host ?? 'localhost'}${target.mount}` };
}

/** A web server on this host ends TLS for us and says so; it alone may, and only for the links that go back to the same caller. */
function schemeOf({ socket, headers }: IncomingMessage): 'http' | 'https' {
  if (socket instanceof TLSSocket) return 'https';
  return isSameHost(socket.remoteAddress) && headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
}

function isSameHost(address: string | undefined): boolean {
  if (address === undefined || address === '::1') return true;
  const plain = address.replace(/^::ffff:/, '');
  return isIP(plain) === 4 && plain.startsWith('127.');
}
