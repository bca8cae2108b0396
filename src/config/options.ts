import { parseListenAddress } from './listen-address.ts';

/**
 * How one option's text is checked and what it becomes. `parse` throws an Error whose message ends
 * "cannot use … : <message>".
 */
export interface Option<Value> {
  /** For `depotd --help` and the README: what it means, with its unit. */
  meaning: string;
  isList: boolean;
  fallback: Value;
  parse: (values: string[]) => Value;
}

/**
 * Every option of the configuration, by section. The types of the configuration follow from this
 * table, so an option that is not here does not exist.
 */
export const OPTIONS = {
  main: {
    listen: list(
      'addresses to listen on: HOST:PORT, [V6]:PORT or unix:PATH',
      ['127.0.0.1:8728'],
      checkListen,
    ),
    base: text('root of the CGI path tree', '/cgi-bin/panel', basePath),
    auth: choice('who may ask: the panel session, a password, or anybody on this host', [
      'panel',
      'password',
      'none',
    ]),
    hosts: list(
      'Host header values accepted beside the listen addresses and localhost',
      [],
      hostName,
    ),
    root: text('device root: every device path lies below it', '/', absolutePath),
    state_dir: text(
      'folder on flash for job records, password hash and run records',
      '/etc/depotd',
      absolutePath,
    ),
    log_dir: text('folder for task logs', '/var/log/depotd', absolutePath),
    upload_dir: text('folder for uploads until their job has ended', '/tmp/depotd', absolutePath),
    upload_max_mb: integer('largest upload, in MiB', 1024, [1, 1_048_576]),
    keep_jobs: integer('finished jobs kept', 100, [1, 100_000]),
    keep_log_mb: integer('bytes of finished task logs kept, in MiB', 32, [1, 1_048_576]),
    log_level: choice('least level written to the log', [
      'info',
      'trace',
      'debug',
      'warn',
      'error',
      'fatal',
      'silent',
    ]),
  },
  container: {
    engine: choice('who starts and stops the engine', ['auto', 'procd', 'systemd', 'command']),
    start: list('argument vector that starts the engine, one argument a list item', [], anyText),
    stop: list('argument vector that stops the engine, one argument a list item', [], anyText),
    socket: text('where the engine answers', '/var/run/docker.sock', absolutePath),
  },
  forge: {
    upstream: text(
      'address of the forge: https://host[:port][/prefix]; empty: none',
      '',
      upstreamAddress,
    ),
    path: text('API root, here and at the upstream', '/api/v1', basePath),
    expose: choice('documented routes or all below the API root', ['documented', 'all']),
    token_file: text("file with the device's own forge token", '', emptyOrAbsolute),
    ca_file: text('file with an additional certificate authority', '', emptyOrAbsolute),
    connect_timeout_s: integer('limit for connecting to the forge, in seconds', 10, [1, 3600]),
    first_byte_timeout_s: integer(
      'limit from the request to the first byte of the answer, in seconds',
      120,
      [1, 86_400],
    ),
    idle_timeout_s: integer('limit between two pieces of a body, in seconds', 60, [1, 86_400]),
    cache_mb: integer(
      'largest size of the cache on disk for a weak line, in MiB; 0: none',
      0,
      [0, 1_048_576],
    ),
  },
} as const;

function text(meaning: string, fallback: string, check: (value: string) => string): Option<string> {
  return { meaning, isList: false, fallback, parse: ([value = '']) => check(value) };
}

function list(
  meaning: string,
  fallback: string[],
  check: (value: string) => string,
): Option<string[]> {
  return { meaning, isList: true, fallback, parse: (values) => values.map(check) };
}

function integer(
  meaning: string,
  fallback: number,
  [least, most]: [number, number],
): Option<number> {
  const parse = ([value = '']: string[]): number => {
    const parsed = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
    if (!(parsed >= least && parsed <= most)) {
      throw new Error(`a whole number from ${least} to ${most} is expected`);
    }
    return parsed;
  };
  return { meaning, isList: false, fallback, parse };
}

/** The first choice is the default. */
function choice<const Choice extends string>(
  meaning: string,
  choices: readonly [Choice, ...Choice[]],
): Option<Choice> {
  const parse = ([value = '']: string[]): Choice => {
    const found = choices.find((candidate) => candidate === value);
    if (found === undefined) throw new Error(`one of ${choices.join(', ')} is expected`);
    return found;
  };
  return { meaning, isList: false, fallback: choices[0], parse };
}

function checkListen(value: string): string {
  parseListenAddress(value);
  return value;
}

function hostName(value: string): string {
  if (!/^[A-Za-z0-9._-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/.test(value)) {
    throw new Error('a host name, with a port or without, is expected');
  }
  return value.toLowerCase();
}

function anyText(value: string): string {
  return value;
}

/** Absolute and normalised: no `.` or `..`, no empty part, no NUL and no line break. */
function absolutePath(value: string): string {
  if (!isNormalisedPath(value)) throw new Error('an absolute, normalised path is expected');
  return value;
}

function emptyOrAbsolute(value: string): string {
  return value === '' ? value : absolutePath(value);
}

/** A path of unreserved URL characters (RFC 3986, section 2.3), without a slash at its end. */
function basePath(value: string): string {
  if (!/^(\/[A-Za-z0-9._~-]+)+$/.test(value) || !isNormalisedPath(value)) {
    throw new Error('a path such as /cgi-bin/panel is expected');
  }
  return value;
}

function isNormalisedPath(value: string): boolean {
  if (value === '/') return true;
  if (!value.startsWith('/') || /[\0\n\r]/.test(value)) return false;
  return value
    .slice(1)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');
}

function upstreamAddress(value: string): string {
  if (value === '') return value;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isPlain =
    url !== undefined &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new Error('https://host[:port][/prefix] is expected');
  }
  return value.replace(/\/+$/, '');
}
