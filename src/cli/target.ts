import type { RequestOptions } from 'node:http';

/** Where the daemon answers. */
export interface Target {
  /** As the user wrote it, for messages. */
  url: string;
  connection: Pick<RequestOptions, 'host' | 'port' | 'socketPath'>;
  isTls: boolean;
  /** What every path begins with. */
  prefix: string;
}

/**
 * @param url `http://HOST[:PORT][/PREFIX]`, the same with https, or `unix:/PATH`
 * @throws Error that names the option and the form expected
 */
export function parseTarget(url: string, base: string): Target {
  if (!/^(\/[^/?#\s]+)+\/?$/.test(base)) {
    throw new Error(`cannot use --base ${base}: a path such as /cgi-bin/panel is expected`);
  }
  const path = base.replace(/\/$/, '');
  if (url.startsWith('unix:/')) {
    return {
      url,
      connection: { socketPath: url.slice('unix:'.length) },
      isTls: false,
      prefix: path,
    };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isTls = parsed?.protocol === 'https:';
  if (
    parsed === undefined ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.hostname === '' ||
    parsed.search !== '' ||
    parsed.hash !== ''
  ) {
    throw new Error(
      `cannot use --url ${url}: http://HOST[:PORT], https://… or unix:/PATH is expected`,
    );
  }
  // An IPv6 address stands in brackets in an URL, and without them in a connection.
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    url,
    connection: { host, port: parsed.port === '' ? usualPort(isTls) : Number(parsed.port) },
    isTls,
    prefix: parsed.pathname.replace(/\/$/, '') + path,
  };
}

function usualPort(isTls: boolean): number {
  return isTls ? 443 : 80;
}

/** The same for all ways of writing an address. */
export function addressOf({
  connection: { host, port, socketPath },
  isTls,
  prefix,
}: Target): string {
  return socketPath === undefined
    ? `${isTls ? 'https' : 'http'}://${host ?? ''}:${port ?? ''}${prefix}`
    : `unix:${socketPath}${prefix}`;
}
