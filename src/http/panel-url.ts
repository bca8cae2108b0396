import type { Context } from 'hono';
import { canonicalAddress } from '../config/ip-address.ts';
import { parseUciFile } from '../config/uci-file.ts';
import { clientOf, socketOf } from './peer.ts';

/**
 * Where the panel's web server answers, for addresses of its pages that name no host: apps say
 * their own page so. Read anew each time, as uhttpd's configuration may change.
 * @param readUhttpd reads the UCI file `uhttpd`; undefined if it cannot be read
 * @returns `/` if the request came through that server; else an absolute URL of the host that was
 *   called, ending with a slash; undefined if no listener of uhttpd answers there
 */
export async function panelUrl(
  context: Context,
  readUhttpd: () => Promise<string | undefined>,
): Promise<string | undefined> {
  if (clientOf(context).isForwarded) return '/';
  const called = socketOf(context)?.localAddress;
  const host = `http://${context.req.header('host') ?? ''}`;
  if (called === undefined || !URL.canParse(host)) return undefined;
  const listener = listenersIn((await readUhttpd()) ?? '').find(({ address }) =>
    answersAt(address, called),
  );
  if (listener === undefined) return undefined;
  const { hostname } = new URL(host);
  return new URL(`${listener.scheme}://${hostname}:${listener.port}/`).href;
}

/**
 * What uhttpd's section `main` listens on, without TLS first: uhttpd itself leads on to TLS if it
 * is told to (`redirect_https`). Source: /etc/init.d/uhttpd, `[ADDRESS:]PORT`.
 * @returns each address without brackets; empty for all addresses
 */
function listenersIn(text: string) {
  const main = parseUciFile(text).sections.find(
    ({ type, name }) => type === 'uhttpd' && name === 'main',
  );
  return (['http', 'https'] as const).flatMap((scheme) =>
    (main?.options ?? [])
      .filter(({ name }) => name === `listen_${scheme}`)
      .flatMap(({ value }) => value.split(/\s+/))
      .flatMap((value) => {
        const [, address = '', port] = /^(?:(.*):)?(\d{1,5})$/.exec(value) ?? [];
        if (port === undefined || Number(port) < 1 || Number(port) > 65_535) return [];
        return [{ scheme, address: address.replace(/^\[(.*)\]$/, '$1'), port }];
      }),
  );
}

/** An IPv6 listener takes no IPv4: uhttpd sets IPV6_V6ONLY. */
function answersAt(address: string, called: string): boolean {
  const canonical = canonicalAddress(called);
  const all = canonical.includes(':') ? '::' : '0.0.0.0';
  return ['', all, canonical].includes(address && canonicalAddress(address));
}
