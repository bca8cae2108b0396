import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { messageOf, send, sendBytes, type RawAnswer } from '../support/raw-request.ts';

let device: Device;
let daemon: TestDaemon;
let token: string;

beforeAll(async () => {
  device = await createDevice();
  daemon = await startDaemon(device, { set: ['main.hosts=router.lan', 'main.hosts=nas.lan:8080'] });
  token = await daemon.token();
});

afterAll(async () => {
  await daemon.close();
  await device.close();
});

const store = (operation: string): string => `${daemon.url}${daemon.base}/admin/store/${operation}`;
const update = (headers: Record<string, string>): Promise<RawAnswer> =>
  send(`${store('update')}?token=${token}`, {
    method: 'POST',
    headers: { Host: 'localhost', ...headers },
  });

describe('Host', () => {
  const known = [
    'localhost',
    'localhost:1',
    'LOCALHOST',
    '127.0.0.1',
    '127.0.0.1:8728',
    'router.lan',
    'router.lan:80',
    'Router.LAN',
    'nas.lan:8080',
  ];
  test.each(known)('%s is answered', async (host) => {
    expect((await send(store('installed'), { headers: { Host: host } })).status).toBe(200);
  });

  const foreign = [
    'evil.example',
    'evil.example:8728',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.2',
    'nas.lan',
    'nas.lan:8081',
    'xrouter.lan',
    '[::1]',
    '0.0.0.0',
  ];
  test.each(foreign)('%s gets 421, whatever it asks for', async (host) => {
    for (const path of [
      store('installed'),
      `${daemon.url}/healthz`,
      `${daemon.url}/nowhere`,
      `${daemon.url}${daemon.base}/`,
    ]) {
      const answer = await send(path, { headers: { Host: host } });

      expect(answer.status).toBe(421);
      expect(messageOf(answer)).toContain(host.toLowerCase());
    }
    expect(
      (await send(`${store('update')}?token=${token}`, { method: 'POST', headers: { Host: host } }))
        .status,
    ).toBe(421);
  });

  /** As they stand in the request, and what it answers: 400 where it is no host at all. */
  const odd = [
    'Host: \r\n',
    'Host: a b\r\n',
    'Host: localhost/x\r\n',
    'Host: user@localhost\r\n',
    'Host: evil.example\r\nX-Forwarded-Host: localhost\r\n',
    '',
  ];
  test.each(odd)('a request with %j is refused in JSON', async (line) => {
    const answer = await sendBytes(
      daemon.url,
      `GET ${daemon.base}/admin/store/installed HTTP/1.1\r\n${line}Connection: close\r\n\r\n`,
    );

    expect([400, 421]).toContain(answer.status);
    messageOf(answer);
  });

  test.each(['', 'H', 'x'])(
    'a request with two Host fields is 400, whoever it is for (%j)',
    async (letter) => {
      for (const path of [
        `${daemon.base}/admin/store/installed`,
        '/healthz',
        '/api/v1/repos/o/r/pulls',
      ]) {
        const second = letter === 'x' ? 'evil.example' : 'localhost';
        const answer = await sendBytes(
          daemon.url,
          `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX: 1\r\n${letter === 'H' ? 'HOST' : 'host'}: ${second}\r\nConnection: close\r\n\r\n`,
        );

        expect([path, answer.status]).toEqual([path, 400]);
        expect(messageOf(answer)).toContain('Host');
      }
    },
  );

  test.each(['http://evil.example', 'HTTP://localhost@evil.example', 'http://localhost:1', 'x://'])(
    'a target that begins with %s beside the Host field localhost is 400',
    async (host) => {
      for (const path of [`${daemon.base}/admin/store/token`, '/api/v1/repos/o/r/pulls']) {
        const head = `GET ${host}${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

        expect([path, (await sendBytes(daemon.url, head)).status]).toEqual([path, 400]);
      }
    },
  );

  test('HTTP/1.0, which may go without Host, is refused in JSON', async () => {
    messageOf(await sendBytes(daemon.url, 'GET /healthz HTTP/1.0\r\n\r\n'));
  });
});

describe('Origin and Sec-Fetch-Site of a change', () => {
  const own: Record<string, string>[] = [
    {},
    { Origin: 'http://localhost' },
    { Origin: 'https://localhost' },
    { Host: 'router.lan:80', Origin: 'http://Router.lan:80' },
    { 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'none' },
  ];
  test.each(own)('%j is let in', async (headers) => {
    expect((await update(headers)).status).toBe(200);
  });

  const foreign: Record<string, string>[] = [
    { Origin: 'http://evil.example' },
    { Origin: 'null' },
    { Origin: '' },
    { Origin: 'http://localhost:81' },
    { Origin: 'http://localhost.evil.example' },
    { Origin: 'http://evil.example/localhost' },
    { Origin: 'localhost' },
    { Origin: 'file://localhost' },
    { Host: 'localhost:80', Origin: 'http://localhost:8080' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'http://localhost', 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-origin, cross-site' },
  ];
  test.each(foreign)('%j is refused, with a valid token too', async (headers) => {
    const answer = await update(headers);

    expect(answer.status).toBe(403);
    messageOf(answer);
  });

  test('reading is not a change', async () => {
    expect(
      (
        await send(store('installed'), {
          headers: {
            Host: 'localhost',
            Origin: 'http://evil.example',
            'Sec-Fetch-Site': 'cross-site',
          },
        })
      ).status,
    ).toBe(200);
  });
});

describe('token', () => {
  const operations = ['install', 'autoconf', 'remove', 'upgrade', 'update'];

  test("it is the same for the daemon's run, and another one after it", async () => {
    expect(await daemon.token()).toBe(token);
    await daemon.restart();
    expect(await daemon.token()).not.toBe(token);
    token = await daemon.token();
  });

  test.each(operations)(
    '%s is refused without, with a wrong, a shortened or a doubled one',
    async (operation) => {
      const queries = [
        '',
        'token=',
        'token=wrong',
        `token=${token.slice(1)}`,
        `token=${token}x`,
        `token=${token}&token=${token}`,
        `token=wrong&token=${token}`,
        `Token=${token}`,
      ];
      for (const query of queries) {
        const answer = await send(`${store(operation)}?package=demo&${query}`, {
          method: 'POST',
          headers: { Host: 'localhost' },
        });

        expect([query, answer.status]).toEqual([query, 403]);
        expect(JSON.parse(answer.body)).toEqual({
          code: 403,
          msg: messageOf(answer),
          stdout: '',
          stderr: messageOf(answer),
        });
      }
    },
  );

  test('stopping a task needs one, too', async () => {
    expect(
      (
        await send(`${daemon.url}${daemon.base}/admin/system/tasks/stop?task_id=x`, {
          method: 'POST',
          headers: { Host: 'localhost' },
        })
      ).status,
    ).toBe(403);
  });

  test('it may come in a form, which says nothing else than the query', async () => {
    const headers = { Host: 'localhost', 'Content-Type': 'application/x-www-form-urlencoded' };

    expect(
      (await send(store('update'), { method: 'POST', headers, body: `token=${token}` })).status,
    ).toBe(200);
    expect(
      (
        await send(`${store('update')}?token=wrong`, {
          method: 'POST',
          headers,
          body: `token=${token}`,
        })
      ).status,
    ).toBe(400);
    expect(
      (
        await send(`${store('update')}?token=${token}`, {
          method: 'POST',
          headers,
          body: 'token=wrong',
        })
      ).status,
    ).toBe(400);
  });

  test('it is not a cookie', async () => {
    expect(
      (
        await send(store('update'), {
          method: 'POST',
          headers: { Host: 'localhost', Cookie: `token=${token}` },
        })
      ).status,
    ).toBe(403);
  });
});

test('without a log-in, whatever needs one is refused, and the panel is told to log in', async () => {
  const closed = await startDaemon(device, {
    set: ['main.auth=panel', 'main.state_dir=/etc/closed', 'main.log_dir=/tmp/log/closed'],
  });
  for (const path of [
    'admin/store/installed',
    'admin/store/token',
    'admin/system/tasks/status',
    'admin/system/events',
  ]) {
    const answer = await send(`${closed.url}${closed.base}/${path}`);

    expect([path, answer.status, answer.headers['x-luci-login-required']]).toEqual([
      path,
      403,
      'yes',
    ]);
    messageOf(answer);
  }
  expect(
    (await send(`${closed.url}${closed.base}/admin/store/update?token=x`, { method: 'POST' }))
      .status,
  ).toBe(403);
  for (const path of ['/healthz', '/metrics']) {
    expect((await send(`${closed.url}${path}`)).status).toBe(200);
  }
  await closed.close();
});
