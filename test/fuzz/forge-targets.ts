import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { startDevice, listen } from '../features/forge/device.ts';

/**
 * Sends mutated targets and headers to the forge half and looks at what reaches the upstream: never
 * anything outside its API root, on no level of escaping, and never the panel's cookie or token.
 * `COUNT` (200000), `SEED` (1), `BATCH` (3) and `EXPOSE` (documented) come from the environment.
 *
 *     node --import tsx test/fuzz/forge-targets.ts
 */
const COUNT = Number(process.env['COUNT'] ?? 200_000);
const COOKIE = 'PANELCOOKIEVALUE';
const TOKEN = 'PANELTOKENVALUE';
const ROOT = '/git/api/v1';
/**
 * How many requests share a connection, at most: a refused one closes it, and only those before the
 * first unusual one take the shortcut.
 */
const BATCH = Number(process.env['BATCH'] ?? 3);

let seed = Number(process.env['SEED'] ?? 1);

/** A small generator with a seed (mulberry32), so that a finding can be made again. */
function random(below: number): number {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return (((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below;
}

function pick<Item>(items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random(items.length))] ?? items[0];
}

const BASES = [
  '/repos/o/r/raw/a/b',
  '/repos/o/r/contents',
  '/repos/o/r/pulls/1/merge',
  '/repos/o/r/wiki/page/x',
  '/users/u/tokens',
  '/version',
  '/repos/o/r/archive/m.zip',
  '',
] as const;
const PARTS = [
  '..',
  '%2e%2e',
  '%2E.',
  '.',
  '%2f',
  '%2F',
  '%5c',
  '\\',
  '/',
  '//',
  '%00',
  '%252e%252e%252f',
  '..;',
  ';',
  '#',
  '?',
  '%',
  '%zz',
  '@evil',
  ':80',
  '%c0%ae%c0%ae',
  '\t',
  '\x7f',
  '\xff',
  ' ',
  '*',
  '..%2f..%2f',
  '/../../../admin',
  '%0d%0aX:1',
  '/api/v1/',
] as const;
const STARTS = [
  '/api/v1',
  '/cgi-bin/panel/api/v1',
  '/api/v1',
  '/api/v1',
  'http://evil/api/v1',
  '//evil/api/v1',
  '/x/../api/v1',
  '/api/v1/..',
  '/API/v1',
  '/api%2fv1',
  '/api/v1%2f..',
  '/cgi-bin/panel/../api/v1',
] as const;
const GOOD_STARTS = ['/api/v1', '/cgi-bin/panel/api/v1'] as const;
const QUERIES = [
  '',
  '',
  `?token=${TOKEN}`,
  `?a=1&token=${TOKEN}&b`,
  `?_t=${TOKEN}`,
  `?%74oken=${TOKEN}`,
  `?a;token=${TOKEN}`,
  `?&&token=${TOKEN}&`,
  `?x=1&tok%65n=${TOKEN};y`,
  '?ref=../..',
  `?token=${TOKEN}#x`,
  `?token=${TOKEN}&token=${TOKEN}`,
] as const;
const METHODS = [
  'GET',
  'GET',
  'GET',
  'GET',
  'GET',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'FOO',
] as const;
const HEADERS = [
  `Cookie: sysauth_http=${COOKIE}`,
  `Cookie: a=1; sysauth=${COOKIE}; b=2`,
  `Cookie:sysauth_https=${COOKIE};`,
  `COOKIE: ;; SysAuth_HTTP=${COOKIE} ; x`,
  `cookie: depotd_session=${COOKIE}`,
  `Cookie: x;sysauth_http =${COOKIE}`,
  `X-CSRF-Token: ${TOKEN}`,
  `X_CSRF_Token: ${TOKEN}`,
  `x-csrf_token: ${TOKEN}`,
  `C_ookie: x`,
  `Referer: http://nas/cgi-bin/luci/;stok=${TOKEN}/x?token=${TOKEN}`,
  `REFERER: /x?a&_t=${TOKEN}`,
  'X-WEBAUTH-USER: FORGED',
  'X_WEBAUTH_USER: FORGED',
  'x-webauth-email: FORGED',
  'X-Forwarded-For: FORGED',
  'X-Forwarded-User: FORGED',
  'X_Forwarded-Host: FORGED',
  'X-Real-IP: FORGED',
  'Forwarded: for=FORGED',
  'Connection: keep-alive, X-Forwarded-For, Cookie',
  'Connection: Host, Content-Length',
  'Transfer-Encoding : chunked',
  'Content-Length: 0',
  'Transfer-Encoding: chunked',
  'Upgrade: websocket',
  'Te: trailers',
  'X-Long: ' + 'x'.repeat(3000),
] as const;

function target(): string {
  let text = (random(3) < 2 ? pick(GOOD_STARTS) : pick(STARTS)) + pick(BASES);
  for (let edits = Math.floor(random(3)); edits > 0; edits -= 1) {
    const position = Math.floor(random(text.length + 1));
    text =
      text.slice(0, position) + pick(PARTS) + text.slice(random(4) < 1 ? position + 1 : position);
  }
  return text + pick(QUERIES);
}

function message(): string {
  const headers = Array.from({ length: Math.floor(random(5)) }, () => pick(HEADERS));
  const body = headers.some((line) => line.startsWith('Transfer-Encoding:')) ? '0\r\n\r\n' : '';
  return `${pick(METHODS)} ${target()} HTTP/1.1\r\nHost: nas\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
}

/** What is wrong with a request that reached the upstream. */
function findings({ url = '', rawHeaders }: IncomingMessage): string[] {
  const [path = ''] = url.split('?', 1);
  const found: string[] = [];
  let level = path;
  for (let round = 0; round < 10; round += 1) {
    const outside =
      !`${new URL(`http://h${level.replace(/^\/+/, '/').replaceAll('\\', '/')}`).pathname}/`.startsWith(
        `${ROOT}/`,
      );
    if (outside || /(?:^|[/\\])\.\.(?:;[^/\\]*)?(?:[/\\]|$)/.test(level) || level.includes('\0')) {
      found.push(`outside the root on level ${round}`);
    }
    const next = level.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (next === level) break;
    level = next;
  }
  const whole = [url, ...rawHeaders].join('\n');
  for (const secret of [COOKIE, TOKEN, 'FORGED']) {
    if (whole.includes(secret)) found.push(`carries ${secret}`);
  }
  return found;
}

let reached = 0;
const problems: string[] = [];
const upstream = createServer((request, response) => {
  reached += 1;
  const found = findings(request);
  if (found.length > 0 && problems.length < 20) {
    problems.push(
      `${found.join(', ')}: ${request.method ?? ''} ${request.url ?? ''} ${JSON.stringify(request.rawHeaders)}`,
    );
  }
  response.end('{}');
});
upstream.on('clientError', (error, socket) => {
  problems.push(`the upstream got what is no request: ${error.message}`);
  socket.destroy();
});
const port = await listen(upstream);
const device = await startDevice({
  upstream: `http://127.0.0.1:${port}/git`,
  expose: process.env['EXPOSE'] === 'all' ? 'all' : 'documented',
});
device.log.push = () => 0;

const statuses = new Map<string, number>();
let sent = 0;

/** Sends requests one after the other on one connection until it closes. */
function session(): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect(device.port, '127.0.0.1');
    let left = BATCH;
    let text = '';
    const next = (): void => {
      if (left === 0 || sent >= COUNT) return void socket.end();
      left -= 1;
      sent += 1;
      text = '';
      socket.write(message(), 'latin1');
    };
    socket.setTimeout(2000, () => socket.destroy());
    socket.on('connect', next);
    socket.on('error', () => undefined);
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      if (status === undefined || !text.includes('\r\n\r\n')) return;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (/\r\nConnection: close/i.test(text)) return void socket.end();
      // The next request goes out a turn later, when the rest of this answer is there.
      setImmediate(next);
    });
    socket.on('close', () => resolve());
  });
}

async function work(): Promise<void> {
  while (sent < COUNT) await session();
}

await Promise.all(Array.from({ length: 16 }, work));
process.stdout.write(
  `${sent} sent, ${device.taken.length} by the shortcut, ${reached} reached the upstream, ${JSON.stringify(Object.fromEntries(statuses))}, ${problems.length} findings\n`,
);
for (const problem of problems) process.stdout.write(`${problem}\n`);
await device.close();
upstream.closeAllConnections();
upstream.close();
process.exitCode = problems.length === 0 ? 0 : 1;
