import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { openEvents } from '../support/event-reader.ts';
import { createOwner } from '../support/owner.ts';
import { createPanel, type Panel, type PanelLogin } from '../support/panel.ts';
import { messageOf, send, type RawRequest } from '../support/raw-request.ts';
import { startOddDaemon } from './odd-daemon.ts';
import {
  RELAYS,
  startUhttpd,
  type RelayKind,
  type UhttpdOptions,
  type WebServer,
} from './web-server.ts';

let device: Device;
let panel: Panel;
let daemon: TestDaemon;
let servers: Record<RelayKind, WebServer>;
let login: PanelLogin;

const socketOf = ({ root }: Device): string => join(root, 'depotd.sock');

beforeAll(async () => {
  [device, panel] = await Promise.all([createDevice(), createPanel()]);
  daemon = await startDaemon(device, {
    set: ['main.auth=panel', `main.listen=unix:${socketOf(device)}`],
    env: panel.env,
  });
  const socket = socketOf(device);
  const [cgi, handler] = await Promise.all(RELAYS.map((relay) => startUhttpd({ socket, relay })));
  if (cgi === undefined || handler === undefined) throw new Error('cannot start uhttpd');
  servers = { cgi, handler };
  login = await panel.logIn();
});

afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.close()));
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

const BOTH = RELAYS.map((relay) => [relay] as const);

const READS = [
  'admin/store/token',
  'admin/store/installed',
  'admin/store/status?package=demo',
  'admin/store/status?package=..%2Fetc',
  'admin/store/configured?uci=depotd',
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
async function expectAlike(path: string): Promise<void> {
  const [direct, ...relayed] = await Promise.all([
    answerOf(daemon.url, path),
    ...RELAYS.map((relay) => answerOf(servers[relay].url, path)),
  ]);
  expect(relayed).toEqual([direct, direct]);
}

test.each(READS)('%s answers through the panel as it does directly', expectAlike);

// Other tests mount disks meanwhile, so that two answers may differ.
test('admin/store/get_block_devices answers through the panel as it does directly', () =>
  vi.waitFor(() => expectAlike('admin/store/get_block_devices'), { timeout: 10_000 }));

test.each(BOTH)(
  '%s: a change needs the token, and makes a task whose log and events come through',
  async (relay) => {
    const form = {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    expect(
      await answerOf(servers[relay].url, 'admin/store/update', { ...form, body: 'token=wrong' }),
    ).toMatchObject({ status: 403 });

    const { body } = (await answerOf(servers[relay].url, 'admin/store/update', {
      ...form,
      body: `token=${login.token}`,
    })) as { body: string };
    const { task_id: id } = JSON.parse(body) as { task_id: string };
    const { body: events } = (await answerOf(
      servers[relay].url,
      `admin/system/tasks/events?task_id=${id}`,
    )) as { body: string };

    expect(events).toContain('event: end');
    expect(await answerOf(servers[relay].url, `admin/system/tasks/log?task_id=${id}`)).toEqual(
      await answerOf(daemon.url, `admin/system/tasks/log?task_id=${id}`),
    );
  },
);

test.each(BOTH)(
  '%s: the address of the panel is a good Host, a name that nobody configured is not',
  async (relay) => {
    const url = `${servers[relay].url}${daemon.base}/admin/store/token`;

    expect((await send(url, { headers: { ...logIn(), Host: '127.0.0.1:80' } })).status).toBe(200);
    const refused = await send(url, { headers: { ...logIn(), Host: 'evil.example' } });
    expect([refused.status, messageOf(refused)]).toEqual([
      421,
      expect.stringContaining('evil.example'),
    ]);
  },
);

test.each(BOTH)(
  '%s: a page of another site cannot make a change through the panel',
  async (relay) => {
    const refused = await send(
      `${servers[relay].url}${daemon.base}/admin/store/update?token=${login.token}`,
      { method: 'POST', headers: { ...logIn(), Origin: 'http://evil.example' } },
    );

    expect([refused.status, messageOf(refused)]).toEqual([
      403,
      expect.stringContaining('evil.example'),
    ]);
  },
);

test.each(BOTH)(
  '%s: nobody sets the first password through the panel, and each address has attempts of its own',
  async (relay) => {
    const other = await createDevice();
    onTestFinished(() => other.close());
    const own = await startDaemon(other, {
      set: ['main.auth=password', `main.listen=unix:${socketOf(other)}`],
    });
    onTestFinished(() => own.close());
    const { url } = await openUhttpd({ socket: socketOf(other), relay });
    const passwd = (base: string): Promise<Response> =>
      fetch(`${base}${own.base}/admin/passwd`, {
        method: 'POST',
        body: new URLSearchParams({ password: 'correct horse' }),
      });

    expect((await passwd(url)).status).toBe(403);
    await createOwner(own).setFirstPassword('correct horse');
    expect(
      (
        await fetch(`${url}${own.base}/admin/login`, {
          method: 'POST',
          body: new URLSearchParams({ password: 'wrong' }),
        })
      ).status,
    ).toBe(403);
    expect(await own.logged('wrong password')).toMatchObject({ address: '127.0.0.1' });
  },
);

test.each(BOTH)(
  '%s: a daemon that is not there is 503, one that ends under a request 502, both in JSON',
  async (relay) => {
    const gone = await openUhttpd({ socket: '/nonexistent/depotd.sock', relay });
    const odd = await startOddDaemon((request) => request.socket.destroy());
    onTestFinished(() => odd.close());
    const killed = await openUhttpd({ socket: odd.socket, relay });

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
  },
);

test.each(BOTH)('%s: event streams leave one slot free', async (relay) => {
  const address = `${servers[relay].url}${daemon.base}/admin/system/events`;
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
    (await fetch(`${servers[relay].url}${daemon.base}/admin/store/token`, { headers: logIn() }))
      .status,
  ).toBe(200);
  for (const stream of streams) stream.close();
  const again = await vi.waitFor(() => openEvents(address, { headers: logIn() }), 20_000);
  again.close();
});

test.each(BOTH)('%s: an event stream ends before uhttpd kills it', async (relay) => {
  const { url } = await openUhttpd({ socket: socketOf(device), scriptTimeoutS: 8, relay });

  // A clean end: of one that is not fetch() gives an error.
  expect(
    await (await fetch(`${url}${daemon.base}/admin/system/events`, { headers: logIn() })).text(),
  ).toMatch(/^:/);
});

test.each(BOTH)('%s: twenty requests at once are all answered', async (relay) => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => answerOf(servers[relay].url, 'admin/store/installed')),
  );

  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
});

async function openUhttpd(options: UhttpdOptions): Promise<WebServer> {
  const opened = await startUhttpd(options);
  onTestFinished(() => opened.close());
  return opened;
}
