import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { freePort } from '../support/free-port.ts';

/** A web server of a panel, with what packaging/ has for it. */
export interface WebServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly pid: number;
  readonly close: () => Promise<void>;
}

export interface UhttpdOptions {
  /** Where the daemon listens. */
  socket: string;
  /** CGI programs at once. */
  slots?: number;
  /** A CGI program is killed after so long. */
  scriptTimeoutS?: number;
  /** What hands requests on: a CGI program, or uhttpd's own handler; default: the program. */
  relay?: RelayKind;
  /** How a daemon that ended of idleness is started again, and the folder of its mark. */
  wake?: { start: string; marks: string };
}

export const RELAYS = ['cgi', 'handler'] as const;
export type RelayKind = (typeof RELAYS)[number];

const PACKAGING = join(import.meta.dirname, '../../packaging');
/** Where ucode finds the relay's module. */
export const RELAY_MODULES = join(PACKAGING, 'uhttpd/*.uc');
const STAND_INS = join(import.meta.dirname, '../device');
const HANDLER = ['-o', '/cgi-bin/panel', '-O', join(PACKAGING, 'uhttpd/depotd/uhttpd.uc')];
const START_LIMIT_MS = 20_000;

/**
 * uhttpd with the relay, each the real one where UHTTPD and UCODE name it, else the stand-in. Its
 * arguments are those of OpenWrt's init script.
 */
export async function startUhttpd(
  { socket, slots = 3, scriptTimeoutS = 60, relay = 'cgi', wake }: UhttpdOptions,
  { UHTTPD, UCODE }: NodeJS.ProcessEnv = process.env,
): Promise<WebServer> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-uhttpd-'));
  const env = {
    DEPOTD_SOCKET: socket,
    DEPOTD_START: wake?.start ?? 'false',
    DEPOTD_MARKS: wake?.marks ?? folder,
  };
  const program = join(folder, 'cgi-bin/panel');
  await mkdir(join(folder, 'cgi-bin'));
  await writeFile(
    program,
    `#!/bin/sh\n${Object.entries(env)
      .map(([name, value]) => `export ${name}='${value}'\n`)
      .join(
        '',
      )}exec ${UCODE ?? `${process.execPath} ${STAND_INS}/bin-ucode/ucode`} -L '${RELAY_MODULES}' ${PACKAGING}/uhttpd/panel\n`,
  );
  await chmod(program, 0o755);
  const port = await freePort();
  const limits = [
    '-T',
    '30',
    '-k',
    '20',
    '-A',
    '1',
    '-n',
    `${slots}`,
    '-N',
    '100',
    '-t',
    `${scriptTimeoutS}`,
  ];
  return launch(
    [
      UHTTPD ?? `${STAND_INS}/bin-uhttpd/uhttpd`,
      '-f',
      '-h',
      folder,
      '-x',
      '/cgi-bin',
      ...(relay === 'handler' ? HANDLER : []),
      ...limits,
      '-p',
      `127.0.0.1:${port}`,
    ],
    { folder, port, env },
  );
}

/**
 * @param daemonUrl where the daemon listens on TCP
 * @param options.host the address that it listens on
 * @param options.events what stands in its `events`
 */
export async function startNginx(
  daemonUrl: string,
  { host = '127.0.0.1', events = '' } = {},
): Promise<WebServer> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-nginx-'));
  const port = await freePort();
  const settings = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(' ');
  await writeFile(join(folder, 'depotd.conf'), await snippet('nginx', daemonUrl));
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events { ${events} } http { access_log off; ${settings} server { listen ${host}:${port}; include ${folder}/depotd.conf; } }\n`,
  );
  return launch(['nginx', '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
    folder,
    port,
    host,
  });
}

/** @param daemonUrl where the daemon listens on TCP */
export async function startLighttpd(daemonUrl: string): Promise<WebServer> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-lighttpd-'));
  const port = await freePort();
  const own = [
    `server.document-root = "${folder}"`,
    'server.bind = "127.0.0.1"',
    `server.port = ${port}`,
    `server.upload-dirs = ( "${folder}" )`,
  ];
  // Debian's settings, which the snippet has to undo.
  const debian = [
    'server.http-parseopts = ( "url-path-2f-decode" => "enable", "url-path-dotseg-remove" => "enable" )',
    'server.modules = ( "mod_access" )',
    'url.access-deny = ( "~", ".inc" )',
  ];
  await writeFile(
    join(folder, 'lighttpd.conf'),
    [...debian, ...own, await snippet('lighttpd', daemonUrl)].join('\n'),
  );
  return launch(['lighttpd', '-D', '-f', join(folder, 'lighttpd.conf')], { folder, port });
}

async function snippet(server: string, daemonUrl: string): Promise<string> {
  const text = await readFile(join(PACKAGING, server, 'depotd.conf'), 'utf8');
  return text
    .replace(/127\.0\.0\.1:8728;/, `${new URL(daemonUrl).host};`)
    .replace('"port" => 8728', `"port" => ${new URL(daemonUrl).port}`);
}

async function launch(
  [program = '', ...args]: readonly string[],
  {
    folder,
    port,
    host = '127.0.0.1',
    env,
  }: { folder: string; port: number; host?: string; env?: NodeJS.ProcessEnv },
): Promise<WebServer> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env.PATH, ...env },
  });
  const ended = new Promise((resolve) => child.on('exit', resolve).on('error', resolve));
  await untilItListens(child, { host, port });
  return {
    url: `http://${host}:${port}`,
    pid: child.pid ?? 0,
    close: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Address {
  host: string;
  port: number;
}

async function untilItListens(child: ChildProcess, address: Address): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const isAnswered = await answers(address);
    // Else it may be another program that answers there.
    const isGone = child.exitCode !== null || child.pid === undefined;
    if (isGone || performance.now() > deadline) {
      throw new Error(`cannot start ${child.spawnfile} on port ${address.port}`);
    }
    if (isAnswered) return;
    await delay(20);
  }
}

function answers({ host, port }: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, host, () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', () => {
      resolve(false);
    });
  });
}
