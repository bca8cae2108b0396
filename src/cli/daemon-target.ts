import { accessSync, constants, lstatSync } from 'node:fs';
import type { RequestOptions } from 'node:http';
import { dirname } from 'node:path';

/** Where a daemon is looked for if nobody says. */
export const DEFAULT_URL = 'http://127.0.0.1:8728';
/** Where root needs no log-in: the default of main.owner_socket. */
export const OWNER_SOCKET = '/var/run/depotd/owner.sock';
/** Where the packages have the daemon listen, too, for the web server of the panel. */
export const SHARED_SOCKET = '/var/run/depotd.sock';
export const DEFAULT_BASE = '/cgi-bin/panel';

/** Where the daemon answers. */
export interface Target {
  /** The daemon's address as the user wrote it, for messages. */
  url: string;
  connection: Pick<RequestOptions, 'host' | 'port' | 'socketPath'>;
  isTls: boolean;
  /** What every path begins with. */
  prefix: string;
}

/**
 * The daemon of this host. Root uses the socket of the owner, which needs no log-in, else the one
 * that is root's alone, too: there nobody else can answer in the daemon's place, and no stranger's
 * wrong passwords are in the way.
 */
export function usualUrl({ owner = OWNER_SOCKET, shared = SHARED_SOCKET } = {}): string {
  try {
    if (isOwnSocket(owner)) return `unix:${owner}`;
    accessSync(shared, constants.W_OK);
    return `unix:${shared}`;
  } catch {
    // The sockets are not there, or not for this user.
    return DEFAULT_URL;
  }
}

/** Whether nobody else can have put it there. */
function isOwnSocket(path: string): boolean {
  const user = process.getuid?.();
  const [socket, folder] = [path, dirname(path)].map((name) =>
    lstatSync(name, { throwIfNoEntry: false }),
  );
  return (
    socket?.isSocket() === true &&
    folder?.isDirectory() === true &&
    [socket, folder].every(({ uid }) => uid === user) &&
    (folder.mode & 0o022) === 0
  );
}

/**
 * @param url `http://HOST[:PORT][/PATH]`, the same with https, or `unix:/PATH`
 * @param base root of the daemon's CGI path tree, behind the URL's path; undefined: the URL's path
 *   is the base, else DEFAULT_BASE
 * @throws Error that names the option and the form expected
 */
export function parseTarget(url: string, base?: string): Target {
  const path = base === undefined ? undefined : checkBase(base);
  if (url.startsWith('unix:/')) {
    const connection = { socketPath: url.slice('unix:'.length) };
    return { url, connection, isTls: false, prefix: path ?? DEFAULT_BASE };
  }
  const parsed = parseHttpUrl(url);
  const isTls = parsed.protocol === 'https:';
  // An IPv6 address stands in brackets in an URL, and without them in a connection.
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(parsed.port || (isTls ? 443 : 80));
  const ofUrl = parsed.pathname.replace(/\/$/, '');
  const prefix = path === undefined ? ofUrl || DEFAULT_BASE : ofUrl + path;
  return { url, connection: { host, port }, isTls, prefix };
}

function checkBase(base: string): string {
  if (!/^(\/[^/?#\s]+)+\/?$/.test(base)) {
    throw new Error(`cannot use --base ${base}: a path such as /cgi-bin/panel is expected`);
  }
  return base.replace(/\/$/, '');
}

function parseHttpUrl(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = /^https?:$/.test(parsed?.protocol ?? '');
  if (parsed !== undefined && isHttp && parsed.search + parsed.hash === '') return parsed;
  throw new Error(
    `cannot use --url ${url}: http://HOST[:PORT][/PATH], https://… or unix:/PATH is expected`,
  );
}

/** Whether the daemon is reached without leaving this host. */
export function isOnThisHost({ connection: { host, socketPath } }: Target): boolean {
  return socketPath !== undefined || /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(host ?? '');
}

/** One text for all ways of writing a daemon's address. */
export function addressOf({ connection, isTls, prefix }: Target): string {
  const { host, port, socketPath } = connection;
  return socketPath === undefined
    ? `${isTls ? 'https' : 'http'}://${host ?? ''}:${port ?? ''}${prefix}`
    : `unix:${socketPath}${prefix}`;
}
