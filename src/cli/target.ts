import type { RequestOptions } from 'node:http';

/** Where the daemon answers. */
export interface Target {
  /** As the user wrote it, for messages. */
  url: string;
  connection: Pick<RequestOptions, 'host' | 'port' | 'socketPath'>;
  /** What every path begins with. */
  prefix: string;
}

/**
 * @param url `http://HOST[:PORT][/PREFIX]` or `unix:/PATH`
 * @throws Error that names the option and the form expected
 */
export function parseTarget(url: string, base: string): Target {
  if (!/^(\/[^/?#\s]+)+\/?$/.test(base)) throw new Error(`cannot use --base ${base}: a path such as /cgi-bin/panel is expected`);
  const path = base.replace(/\/$/, '');
  if (url.startsWith('unix:/')) return { url, connection: { socketPath: url.slice('unix:'.length) }, prefix: path };
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'http:' || parsed.hostname === '' || parsed.search !== '' || parsed.hash !== '') throw new Error(`cannot use --url ${url}: http://HOST[:PORT] or unix:/PATH is expected`);
  // An IPv6 address stands in brackets in an URL, and without them in a connection.
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1');
  return { url, connection: { host, port: parsed.port === '' ? 80 : Number(parsed.port) }, prefix: parsed.pathname.replace(/\/$/, '') + path };
}
