import { dirname } from 'node:path';
import { MARKS_FOLDER } from './environment.ts';
import { isLocal, parseListenAddress } from './listen-address.ts';
import {
  absolutePath,
  basePath,
  choice,
  integer,
  list,
  text,
  type Contradiction,
  type Section,
  type ValuesOf,
} from './option.ts';

const OPTIONS = {
  listen: list(
    'addresses to listen on: HOST:PORT, [V6]:PORT or unix:PATH',
    ['127.0.0.1:8728'],
    checkListen,
  ),
  owner_socket: text(
    "unix socket at which root's depotctl needs no log-in; empty: none",
    '/var/run/depotd/owner.sock',
    socketPath,
  ),
  base: text('root of the CGI path tree', '/cgi-bin/panel', basePath),
  auth: choice('who may ask: the panel session, a password, or anybody on this host', [
    'panel',
    'password',
    'none',
  ]),
  istore_paths: integer(
    "1: uhttpd hands on what iStore's page asks LuCI's addresses for",
    0,
    [0, 1],
  ),
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
  undo_mb: integer('room for what finished tasks replaced, in MiB; 0: none', 64, [0, 1_048_576]),
  queue_max: integer('jobs that may wait for their turn', 2000, [1, 20_000]),
  keep_log_mb: integer('bytes of finished task logs kept, in MiB', 32, [1, 1_048_576]),
  idle_exit_min: integer(
    'minutes without task and client after which the daemon ends until it is asked for; 0: never',
    0,
    [0, 525_600],
  ),
  log_format: choice('how the log is written; auto: JSON, and text in syslog', [
    'auto',
    'json',
    'text',
  ]),
  log_level: choice('least level written to the log', [
    'info',
    'trace',
    'debug',
    'warn',
    'error',
    'fatal',
    'silent',
  ]),
};

/** `config depotd 'main'`: the daemon's own options. */
export const MAIN_SECTION: Section<typeof OPTIONS> = {
  name: 'main',
  options: OPTIONS,
  needsRestart: ['root', 'owner_socket', 'state_dir', 'log_dir', 'upload_dir'],
  contradictions: findContradictions,
};

/** Whether a daemon with this `main.owner_socket` is started again when it has gone to sleep. */
export function canBeWoken(ownerSocket: string): boolean {
  const plain = (path: string): string => path.replace(/^\/var\/run\//, '/run/');
  return dirname(plain(ownerSocket)) === plain(MARKS_FOLDER);
}

function findContradictions(values: ValuesOf<typeof OPTIONS>): Contradiction[] {
  const { auth, listen, owner_socket: ownerSocket, idle_exit_min: idleMinutes } = values;
  if (idleMinutes > 0 && !canBeWoken(ownerSocket)) {
    const message =
      `cannot use main.idle_exit_min without a main.owner_socket in ${MARKS_FOLDER}: ` +
      'beside that socket lies the mark by which the daemon is started again';
    return [{ options: ['idle_exit_min', 'owner_socket'], message }];
  }
  if (listen.length === 0) {
    const message = 'cannot use main.listen: at least one address is needed';
    return [{ options: ['listen'], message }];
  }
  if (listen.includes(`unix:${ownerSocket}`)) {
    const message =
      `cannot use main.owner_socket ${ownerSocket}: main.listen has it, too, ` +
      'and what web servers hand on comes in there';
    return [{ options: ['owner_socket', 'listen'], message }];
  }
  const open = listen.find((address) => !isLocal(parseListenAddress(address)));
  if (auth !== 'none' || open === undefined) return [];
  const message =
    `cannot use main.auth none with main.listen ${open}: ` +
    'only loopback and unix addresses may go without log-in';
  return [{ options: ['auth', 'listen'], message }];
}

function checkListen(value: string): string {
  parseListenAddress(value);
  return value;
}

function socketPath(value: string): string {
  if (value !== '') parseListenAddress(`unix:${absolutePath(value)}`);
  return value;
}

function hostName(value: string): string {
  if (!/^[A-Za-z0-9._-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/.test(value)) {
    throw new Error('a host name, with a port or without, is expected');
  }
  return value.toLowerCase();
}
