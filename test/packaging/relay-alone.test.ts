import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

import { startOddDaemon } from './odd-daemon.ts';
import { RELAY_MODULES } from './web-server.ts';

test('a browser that came over TLS is one for the daemon, too', async () => {
  const odd = await startOddDaemon((request, response) =>
    response.end(request.headers['x-forwarded-proto']),
  );
  onTestFinished(() => odd.close());
  const env = {
    REQUEST_METHOD: 'GET',
    REQUEST_URI: '/x',
    HTTP_HOST: 'panel',
    SERVER_PROTOCOL: 'HTTP/1.1',
    DEPOTD_SOCKET: odd.socket,
  };

  expect(await runRelay({ ...env, HTTPS: 'on' })).toMatch(/\r\n\r\n(5\r\n)?https/);
  expect(await runRelay(env)).toMatch(/\r\n\r\n(4\r\n)?http\b/);
});

const ATTACKS: [what: string, env: Record<string, string>][] = [
  ['a target with a line break', { REQUEST_URI: '/x\r\nX-Forwarded-For: 192.0.2.1' }],
  ['a target with a bare line feed', { REQUEST_URI: '/x\nHost: evil' }],
  ['a target with a space', { REQUEST_URI: '/x HTTP/1.1' }],
  ['a target that is no path', { REQUEST_URI: 'http://evil/' }],
  ['no target', {}],
  ['a method that is none', { REQUEST_URI: '/x', REQUEST_METHOD: 'GET /y' }],
  ['a header field with a line feed', { REQUEST_URI: '/x', HTTP_COOKIE: 'a\nHost: evil' }],
  ['a header field with a carriage return', { REQUEST_URI: '/x', HTTP_USER_AGENT: 'a\rb' }],
  ['a content type with a line break', { REQUEST_URI: '/x', CONTENT_TYPE: 'a\r\nb: c' }],
  ['a length that is none', { REQUEST_URI: '/x', CONTENT_LENGTH: '1, 2' }],
  ['a negative length', { REQUEST_URI: '/x', CONTENT_LENGTH: '-1' }],
  ['a length beyond all measure', { REQUEST_URI: '/x', CONTENT_LENGTH: '9'.repeat(30) }],
];
test.each(ATTACKS)('%s is refused before the daemon hears of it', async (_what, env) => {
  const heard: string[] = [];
  const odd = await startOddDaemon((request, response) => {
    heard.push(request.url ?? '');
    response.end();
  });
  onTestFinished(() => odd.close());

  const request = {
    REQUEST_METHOD: 'POST',
    SERVER_PROTOCOL: 'HTTP/1.1',
    ...env,
    DEPOTD_SOCKET: odd.socket,
  };
  expect(await runRelay(request)).toMatch(/^Status: 400 Bad Request\r\n/);
  expect(await runHandler(request)).toMatch(/^Status: 400 Bad Request\r\n/);
  expect(heard).toEqual([]);
});

test.each([
  ['/cgi-bin/luci/admin/store/installed', '/cgi-bin/panel/admin/store/installed'],
  [
    '/cgi-bin/luci/admin/store/install?package=demo&token=t',
    '/cgi-bin/panel/admin/store/install?package=demo&token=t',
  ],
  ['/cgi-bin/luci/admin/system/tasks', '/cgi-bin/panel/admin/system/tasks'],
  [
    '/cgi-bin/luci/admin/system/tasks/log?offset=0',
    '/cgi-bin/panel/admin/system/tasks/log?offset=0',
  ],
  ['/cgi-bin/luci/admin/store', ''],
  ['/cgi-bin/luci/admin/store/', ''],
  ['/cgi-bin/luci/admin/store/pages', ''],
  ['/cgi-bin/luci/admin/store/pages/app?x=1', ''],
  ['/cgi-bin/luci/admin/system/tasks-of-others', ''],
  ['/cgi-bin/luci/admin/login', ''],
  ['/elsewhere/luci/admin/store/installed', ''],
])("of LuCI's addresses %s is iStore's call: %j", async (target, asked) => {
  const env = { REQUEST: JSON.stringify({ target }) };

  expect(await runUcode(join(import.meta.dirname, 'istore_path.uc'), env)).toBe(asked);
});

const PACKAGING = join(import.meta.dirname, '../../packaging');

/** The relay alone, with an environment that no web server would make. */
function runRelay(env: Record<string, string>): Promise<string> {
  return runUcode(join(PACKAGING, 'uhttpd/panel'), env);
}

/** The same by uhttpd's handler, which is given the fields apart. */
function runHandler({ DEPOTD_SOCKET = '', ...env }: Record<string, string>): Promise<string> {
  const fields = Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => /^(HTTP_|CONTENT_)/.test(name))
      .map(([name, value]) => [
        name.replace('HTTP_', '').toLowerCase().replaceAll('_', '-'),
        value,
      ]),
  );
  return runUcode(join(import.meta.dirname, 'request.uc'), {
    DEPOTD_SOCKET,
    REQUEST: JSON.stringify({ env, fields }),
  });
}

async function runUcode(script: string, env: Record<string, string>): Promise<string> {
  const ucode = process.env.UCODE ?? join(import.meta.dirname, '../device/bin-ucode/ucode');
  const child = spawn(ucode, ['-L', RELAY_MODULES, script], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return output;
}
