import { randomBytes } from 'node:crypto';
import { hashOf, KEY_HEADER } from '../../http/session/sessions.ts';

const SESSION_COOKIE = 'depotd_session';

/** The key within Accept, for servers that hand on a fixed list of fields, as CGI does. */
const KEY_IN_ACCEPT = /;\s*depotd-key=([\w-]+)/;

const SECRET_BYTES = 32;

/** A secret for ids and tokens of sessions. */
export function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** What begins a session, for its owner alone. Cookies know no ports: neither half does alone. */
export interface NewSession {
  /** Half of the session for the cookie. */
  id: string;
  /** Half of the session for the header. */
  key: string;
}

export function newSession(): NewSession {
  return { id: randomSecret(), key: randomSecret() };
}

/** Hashes of both halves; the ids of all cookies: a neighbour may have planted some first. */
export function halvesIn(headers: Headers) {
  const ids = cookieValues(headers, [SESSION_COOKIE]).map(hashOf);
  const key = headers.get(KEY_HEADER) ?? KEY_IN_ACCEPT.exec(headers.get('accept') ?? '')?.[1];
  return { ids: new Set(ids), key: key === undefined ? undefined : hashOf(key) };
}

/** Keys of the sessions of these cookies: who logs in has shown more than a key. */
export function keysOfCookies(
  sessions: ReadonlyMap<string, { cookie: string }>,
  headers: Headers,
): string[] {
  const { ids } = halvesIn(headers);
  return [...sessions].flatMap(([key, { cookie }]) => (ids.has(cookie) ? [key] : []));
}

/**
 * The header Set-Cookie. Unknown to scripts, and sent with nothing that another site begins (RFC
 * 6265bis, section 5.6). @param value empty: takes the cookie back
 */
export function cookieHeader(
  value: string,
  { path, isSecure }: { path: string; isSecure: boolean },
): Record<string, string> {
  const flags = `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  const end = value === '' ? '; Max-Age=0' : '';
  return { 'set-cookie': `${SESSION_COOKIE}=${value}; Path=${path}; ${flags}${end}` };
}

/**
 * In the order of the names, then as sent: of two of one name that of the longer path comes first
 * (RFC 6265, section 5.4). Quotes around a value are removed.
 */
export function cookieValues(headers: Headers, names: readonly string[]): string[] {
  const pairs = (headers.get('cookie') ?? '').split(';').map(splitPair);
  return names.flatMap((wanted) =>
    pairs.filter(([name]) => name === wanted).map(([, value]) => value),
  );
}

function splitPair(pair: string): [name: string, value: string] {
  const at = pair.indexOf('=');
  if (at === -1) return ['', ''];
  const value = pair.slice(at + 1).trim();
  return [pair.slice(0, at).trim(), value.replace(/^"([^"]*)"$/, '$1')];
}
