import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, rootCertificates } from 'node:tls';
import type { UpstreamAddress } from './address.ts';
import type { ConnectionOwner } from './upstream-connection.ts';

/** Bytes read at once, into the one buffer of a connection: a body costs no memory beyond it. */
const READ_BUFFER_BYTES = 32_768;

/**
 * TLS is verified against Node's authorities and a further one; its sessions are resumed, which
 * spares a slow line a round trip. @param authority PEM of the further one, if there is one
 */
export function createSocketOpener(
  address: UpstreamAddress,
  authority?: string,
): ConnectionOwner['open'] {
  const trust = authority === undefined ? {} : { ca: [...rootCertificates, authority] };
  // An IP address must not be sent as a TLS server name (RFC 6066, section 3).
  const name = isIP(address.hostname) === 0 ? { servername: address.hostname } : {};
  let session: Buffer | undefined;
  return (receive) => {
    const buffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
    const onread = {
      buffer,
      callback: (bytes: number): boolean => receive(buffer.subarray(0, bytes)),
    };
    const target = {
      host: address.hostname,
      port: address.port,
      noDelay: true,
      keepAlive: true,
      onread,
    };
    if (!address.isTls) return { socket: connectTcp(target), readyEvent: 'connect' };
    const socket = connectTls({
      ...target,
      ...trust,
      ...name,
      ...(session === undefined ? {} : { session }),
      ALPNProtocols: ['http/1.1'],
    });
    socket.on('session', (ticket) => (session = ticket));
    return { socket, readyEvent: 'secureConnect' };
  };
}
