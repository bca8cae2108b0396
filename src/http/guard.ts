import type { IncomingMessage } from 'node:http';
import { canonicalAddress } from '../config/ip-address.ts';
import { DepotError } from '../errors.ts';
import type { Session } from './route.ts';
import { isSameSecret } from './session/sessions.ts';

/** Refuses what another web site, or another name for this device, made a browser send. */

/** Names under which the daemon answers. */
export interface KnownHosts {
  /** Host parts of the listen addresses, without port, as `hostForm` writes them. */
  listening: ReadonlySet<string>;
  /** `main.hosts`: with a port only that port, without one any. */
  configured: readonly string[];
  /**
   * The device's own names and addresses in its network.
   * @param name in lower case, without port, final dot, brackets or zone
   */
  isOwn: (name: string) => boolean;
}

/**
 * A page that makes its own name point to this device (DNS rebinding) still sends that name, so
 * only names that are ours pass.
 * @param calledAddress the address that the client called; undefined on a unix socket if nobody
 *   says it
 * @throws DepotError foreign_host
 */
export function checkHost(
  host: string | undefined,
  known: KnownHosts,
  calledAddress: string | undefined,
): void {
  const value = (host ?? '').toLowerCase();
  const { name, port, bare } = splitHost(value);
  const canonical = hostForm(bare) ?? name;
  const isOurs =
    name === 'localhost' ||
    known.listening.has(canonical) ||
    [value, `${name}${port}`, name].some((form) => known.configured.includes(form)) ||
    canonical === hostForm(calledAddress) ||
    (bare !== undefined && known.isOwn(bare));
  if (!isOurs) {
    throw new DepotError(
      'foreign_host',
      `cannot answer for the host "${value.slice(0, 200)}": it is neither a listen address ` +
        'nor a name of this device nor in main.hosts',
    );
  }
}

/**
 * The name as it is compared: without the port, the dot of a name that counts from the DNS root
 * (RFC 1034, section 3.1), and the zone of a link-local address (RFC 6874, `%25` or `%`). `bare`
 * has no brackets either; it is undefined for an IPv6 address that should have them.
 */
function splitHost(value: string): { name: string; port: string; bare: string | undefined } {
  const [, address, port = ''] = /^\[([^\]%]*)(?:%[^\]]*)?\](:\d+)?$/.exec(value) ?? [];
  if (address !== undefined) return { name: `[${address}]`, port, bare: address };
  const [, name = '', namePort = ''] = /^(.*?)(:\d+)?$/.exec(value) ?? [];
  const plain = name.replace(/\.$/, '');
  return { name: plain, port: namePort, bare: plain.includes(':') ? undefined : plain };
}

/**
 * As a Host header writes it (RFC 3986, section 3.2.2), in one text for all spellings; IPv4 through
 * an IPv6 socket is IPv4.
 */
export function hostForm(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  const plain = canonicalAddress(address.toLowerCase()).replace(/%.*$/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}

/** A change must come from this host's own pages, or from none. @throws DepotError forbidden */
export function checkOrigin(headers: Headers): void {
  const source = foreignSource((name) => headers.get(name) ?? undefined);
  if (source !== undefined) {
    throw new DepotError('forbidden', `cannot take a change from ${source}`);
  }
}

/**
 * Whether a page of another origin had the request sent (Fetch standard, Origin and
 * Sec-Fetch-Site). A GET that a page embeds, such as a picture, has no Origin.
 * @returns what tells so, for people; undefined for this host's own pages and for no page at all
 */
export function foreignSource(
  valueOf: (name: 'origin' | 'host' | 'sec-fetch-site') => string | undefined,
): string | undefined {
  const origin = valueOf('origin');
  if (origin !== undefined && hostOf(origin) !== (valueOf('host') ?? '').toLowerCase()) {
    return `the origin "${origin.slice(0, 200)}"`;
  }
  const site = valueOf('sec-fetch-site');
  return site === undefined || site === 'same-origin' || site === 'none'
    ? undefined
    : `another site (Sec-Fetch-Site: ${site.slice(0, 200)})`;
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/?#]+)$/i.exec(origin)?.[1]?.toLowerCase();
}

/** Browsers send some 30 fields. 16 KiB have room for 3,000, of which each is several objects. */
export const MOST_FIELDS = 200;

/** @throws DepotError header_too_large */
export function checkFieldCount({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  if (rawHeaders.length <= 2 * MOST_FIELDS) return;
  const reason = 'its headers are too large';
  throw new DepotError('header_too_large', `cannot read the request: ${reason}`);
}

/**
 * Two hosts named, by fields or by the target, are two devices to two programs (RFC 9112, section
 * 3.2). Node keeps the first field, and does not look at the target. @throws DepotError bad_request
 */
export function checkOneHost(head: Pick<IncomingMessage, 'rawHeaders' | 'url' | 'headers'>): void {
  const { rawHeaders, url = '/', headers } = head;
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase();
  if (authority !== undefined && authority !== headers.host?.toLowerCase()) {
    const message = 'cannot answer a request whose target and Host field name two hosts';
    throw new DepotError('bad_request', message);
  }
  let count = 0;
  // Name, value, name, value, …
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  if (count > 1) {
    throw new DepotError('bad_request', `cannot answer a request with ${count} Host fields`);
  }
}

/** @throws DepotError forbidden */
export function checkToken(
  given: readonly string[] | undefined,
  { token, formerToken = token }: Pick<Session, 'token' | 'formerToken'>,
): void {
  const [value, second] = given ?? [];
  if (value === undefined) {
    throw new DepotError('forbidden', 'cannot take a change without the parameter token');
  }
  const isOne = isSameSecret(value, token) || isSameSecret(value, formerToken);
  if (second !== undefined || !isOne) {
    throw new DepotError('forbidden', 'cannot take a change: the token is wrong');
  }
}
