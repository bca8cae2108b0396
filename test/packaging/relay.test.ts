import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { openEvents } from '../support/event-reader.ts';
import { createPanel, type Panel, type PanelLogin } from '../support/panel.ts';
import { messageOf, send, type RawRequest } from '../support/raw-request.ts';
import { startOddDaemon } from './odd-daemon.ts';
import { startUhttpd, type UhttpdOptions, type WebServer } from './web-server.ts';

let device: Device;
let panel: Panel;
let daemon: TestDaemon;
let server: WebServer;
let login: PanelLogin;

const socketOf = ({ root }: Device): string => join(root, 'depotd.sock');

beforeAll(async () => {
  [device, panel] = await Promise.all([createDevice(), createPanel()]);
  daemon = await startDaemon(device, {
    set: ['main.auth=panel', `main.listen=unix:${socketOf(device)}`],
    env: { PATH: `${panel.bin}:${device.path}` },
  });
  [server, login] = await Promise.all([startUhttpd({ socket: socketOf(device) }), panel.logIn()]);
});

afterAll(async () => {
  await server.close();
  await daemon.close();
  await Promise.all([panel.close(), device.close()]);
});

const logIn = (): Record<string, string> => ({ cookie: `sysauth_http=${login.id}` });

/** What one place answers: all but the time of day and how the connection goes on. */
async function answerOf(
  url: string,
  path: string,
  { method = 'GET', body, headers }: RawRequest = {},
): Promise<object> {
  const answer = await fetch(`${url}${daemon.base}/${path}`, {
    method,
    headers: { ...logIn(), ...(headers as Record<string, string>) },
    ...(body !== undefined && { body }),
  });
  const fields = [...answer.headers].filter(
    ([name]) =>
      !['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'].includes(name),
  );
  return { status: answer.status, fields, body: await answer.text() };
}

const READS = [
  'admin/store/token',
  'admin/store/installed',
  'admin/store/status?package=demo',
  'admin/store/status?package=..%2Fetc',
  'admin/store/configured?uci=depotd',
  'admin/store/get_block_devices',
  'admin/store/docker_check_dir',
  'admin/store/run_records',
  'admin/store/uid',
  'admin/store/nowhere',
  'admin/store/install',
  'admin/system/tasks/status',
  'admin/system/tasks/status?task_id=none',
  'admin/system/tasks/log?task_id=none',
  'admin/system/tasks/events?task_id=none',
  'api/v1/repos/a%2Fb/c/contents/d%20e',
  'openapi.json',
  '',
];
test.each(READS)('%s answers through the panel as it does directly', async (path) => {
  const [direct, relayed] = await Promise.all([
    answerOf(daemon.url, path),
    answerOf(server.url, path),
  ]);

  expect(relayed).toEqual(direct);
});

test('a change needs the token, and makes a task whose log and events come through', async () => {
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  expect(
    await answerOf(server.url, 'admin/store/update', { ...form, body: 'token=wrong' }),
  ).toMatchObject({ status: 403 });

  const { body } = (await answerOf(server.url, 'admin/store/update', {
    ...form,
    body: `token=${login.token}`,
  })) as { body: string };
  const { task_id: id } = JSON.parse(body) as { task_id: string };
  const { body: events } = (await answerOf(
    server.url,
    `admin/system/tasks/events?task_id=${id}`,
  )) as { body: string };

  expect(events).toContain('event: end');
  expect(await answerOf(server.url, `admin/system/tasks/log?task_id=${id}`)).toEqual(
    await answerOf(daemon.url, `admin/system/tasks/log?task_id=${id}`),
  );
});

test('the address of the panel is a good Host, a name that nobody configured is not', async () => {
  const url = `${server.url}${daemon.base}/admin/store/token`;

  expect((await send(url, { headers: { ...logIn(), Host: '127.0.0.1:80' } })).status).toBe(200);
  const refused = await send(url, { headers: { ...logIn(), Host: 'evil.example' } });
  expect([refused.status, messageOf(refused)]).toEqual([
    421,
    expect.stringContaining('evil.example'),
  ]);
});

test('a page of another site cannot make a change through the panel', async () => {
  const refused = await send(
    `${server.url}${daemon.base}/admin/store/update?token=${login.token}`,
    { method: 'POST', headers: { ...logIn(), Origin: 'http://evil.example' } },
  );

  expect([refused.status, messageOf(refused)]).toEqual([
    403,
    expect.stringContaining('evil.example'),
  ]);
});

test('nobody sets the first password through the panel, and each address has attempts of its own', async () => {
  const other = await createDevice();
  onTestFinished(() => other.close());
  const own = await startDaemon(other, {
    set: ['main.auth=password', `main.listen=unix:${socketOf(other)}`],
  });
  onTestFinished(() => own.close());
  const { url } = await openUhttpd({ socket: socketOf(other) });
  const passwd = (base: string): Promise<Response> =>
    fetch(`${base}${own.base}/admin/passwd`, {
      method: 'POST',
      body: new URLSearchParams({ password: 'correct horse' }),
    });

  expect((await passwd(url)).status).toBe(403);
  expect((await passwd(own.url)).status).toBe(204);
  expect(
    (
      await fetch(`${url}${own.base}/admin/login`, {
        method: 'POST',
        body: new URLSearchParams({ password: 'wrong' }),
      })
    ).status,
  ).toBe(403);
  expect(await own.logged('wrong password')).toMatchObject({ address: '127.0.0.1' });
});

test('a daemon that is not there is 503, one that ends under a request 502, both in JSON', async () => {
  const gone = await openUhttpd({ socket: '/nonexistent/depotd.sock' });
  const odd = await startOddDaemon((request) => request.socket.destroy());
  onTestFinished(() => odd.close());
  const killed = await openUhttpd({ socket: odd.socket });

  const [first, second] = await Promise.all(
    [gone, killed].map(({ url }) => send(`${url}/cgi-bin/panel/x`)),
  );
  expect(first).toMatchObject({
    status: 503,
    body: '{"code":503,"msg":"cannot reach depotd: it is not running, or does not listen on unix:/nonexistent/depotd.sock"}',
  });
  expect(second).toMatchObject({
    status: 502,
    body: '{"code":502,"msg":"cannot pass the answer on: depotd ended before it gave one"}',
  });
});

test('event streams leave one slot free', async () => {
  const address = `${server.url}${daemon.base}/admin/system/events`;
  const streams = await Promise.all([
    openEvents(address, { headers: logIn() }),
    openEvents(address, { headers: logIn() }),
  ]);

  const refused = await fetch(address, { headers: logIn() });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await refused.json()).toMatchObject({
    code: 503,
    msg: expect.stringContaining('slot') as string,
  });
  expect(
    (await fetch(`${server.url}${daemon.base}/admin/store/token`, { headers: logIn() })).status,
  ).toBe(200);
  for (const stream of streams) stream.close();
  const again = await vi.waitFor(() => openEvents(address, { headers: logIn() }), 20_000);
  again.close();
});

test('an event stream ends before uhttpd kills it', async () => {
  const { url } = await openUhttpd({ socket: socketOf(device), scriptTimeoutS: 8 });

  // A clean end: of one that is not fetch() gives an error.
  expect(
    await (await fetch(`${url}${daemon.base}/admin/system/events`, { headers: logIn() })).text(),
  ).toMatch(/^:/);
});

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

  expect(
    await runRelay({
      REQUEST_METHOD: 'POST',
      SERVER_PROTOCOL: 'HTTP/1.1',
      ...env,
      DEPOTD_SOCKET: odd.socket,
    }),
  ).toMatch(/^Status: 400 Bad Request\r\n/);
  expect(heard).toEqual([]);
});

test('twenty requests at once are all answered', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => answerOf(server.url, 'admin/store/installed')),
  );

  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});

async function openUhttpd(options: UhttpdOptions): Promise<WebServer> {
  const opened = await startUhttpd(options);
  onTestFinished(() => opened.close());
  return opened;
}

/** The relay alone, with an environment that no web server would make. */
async function runRelay(env: Record<string, string>): Promise<string> {
  const ucode = process.env.UCODE ?? join(import.meta.dirname, '../device/bin-ucode/ucode');
  const child = spawn(ucode, [join(import.meta.dirname, '../../packaging/uhttpd/panel')], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return output;
}
