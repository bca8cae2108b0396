import { isLoopback } from './ip-address.ts';

/** Where the daemon listens: a TCP address or a unix socket. Port 0 lets the system choose one. */
export type ListenAddress =
  | { kind: 'tcp'; host: string; port: number }
  | { kind: 'unix'; path: string };

/** @param value `HOST:PORT`, `[V6]:PORT` or `unix:PATH` @throws Error with the form expected */
export function parseListenAddress(value: string): ListenAddress {
  if (value.startsWith('unix:')) {
    const path = value.slice('unix:'.length);
    // The limit is that of sockaddr_un: 108 bytes with the closing NUL (unix(7)).
    if (!path.startsWith('/') || Buffer.byteLength(path) > 107) {
      throw new Error('unix: and an absolute path of at most 107 bytes is expected');
    }
    return { kind: 'unix', path };
  }
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(value);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || !(port <= 65_535)) {
    throw new Error('HOST:PORT, [V6]:PORT or unix:PATH is expected');
  }
  return { kind: 'tcp', host, port };
}

/** Whether only this host can reach it: a unix socket or a loopback address. */
export function isLocal(address: ListenAddress): boolean {
  if (address.kind === 'unix') return true;
  return address.host === 'localhost' || isLoopback(address.host);
}

/** `HOST PORT` or `unix PATH`; an address of every interface is reached over loopback. */
export function localAddress(listen: readonly string[]): string {
  const addresses = listen.map(parseListenAddress);
  const address =
    addresses.find((candidate) => candidate.kind === 'unix' || candidate.port !== 0) ??
    addresses[0];
  if (address === undefined) return '';
  if (address.kind === 'unix') return `unix ${address.path}`;
  const everywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return `${everywhere[address.host] ?? address.host} ${address.port}`;
}
