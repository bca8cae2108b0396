import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { messageOf, send, sendBytes } from '../support/raw-request.ts';

let device: Device;
let daemon: TestDaemon;
let token: string;
let socketPath: string;

beforeAll(async () => {
  device = await createDevice();
  socketPath = join(device.root, 'tmp/depotd.sock');
  daemon = await startDaemon(device, {
    set: ['main.listen=[::1]:0', `main.listen=unix:${socketPath}`],
  });
  token = await daemon.token();
});

afterAll(async () => {
  await daemon.close();
  await device.close();
});

const at = (path: string): string =>
  `${daemon.url}${path.startsWith('/') ? path : `${daemon.base}/${path}`}`;

describe('paths and methods', () => {
  const unknown = [
    '/',
    '/nowhere',
    '/cgi-bin',
    '/cgi-bin/panel/admin',
    'admin/store',
    'admin/store/',
    'admin/store/installed/',
    'admin/store//installed',
    'admin/store/INSTALLED',
    'admin/store/../store/nothing',
    '/%',
    '/%zz',
    '/%00',
    '/%2e%2e/etc/passwd',
    '/?package=x',
  ];
  test.each(unknown)('%s is 404 in JSON', async (path) => {
    const answer = await send(at(path));

    expect(answer.status).toBe(404);
    messageOf(answer);
  });

  const wrong: [string, string, string][] = [
    ['POST', 'admin/store/installed', 'GET, HEAD'],
    ['PUT', 'admin/store/installed', 'GET, HEAD'],
    ['GET', 'admin/store/install', 'POST'],
    ['HEAD', 'admin/store/install', 'POST'],
    ['DELETE', 'admin/store/remove', 'POST'],
    ['PATCH', 'admin/system/tasks/status', 'GET, HEAD'],
    ['OPTIONS', 'admin/store/install', 'POST'],
    ['TRACE', 'admin/store/install', 'POST'],
    ['PROPFIND', '/healthz', 'GET, HEAD'],
    ['POST', '/metrics', 'GET, HEAD'],
  ];
  test.each(wrong)('%s %s is 405 and tells what is allowed: %s', async (method, path, allowed) => {
    const answer = await send(`${at(path)}?token=${token}`, { method });

    expect([answer.status, answer.headers.allow]).toEqual([405, allowed]);
    if (method !== 'HEAD') messageOf(answer);
  });

  test('every path of the OpenAPI document answers a wrong method with 405 and those it names', async () => {
    const { paths } = (await (await daemon.get('openapi.json')).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    expect(Object.keys(paths).length).toBeGreaterThan(12);
    for (const [path, methods] of Object.entries(paths)) {
      const { status, headers } = await send(at(path), { method: 'DELETE' });

      const allowed = Object.keys(methods)
        .map((method) => (method === 'get' ? 'GET, HEAD' : method.toUpperCase()))
        .join(', ');
      expect([path, status, headers.allow]).toEqual([path, 405, allowed]);
    }
  });

  test('HEAD answers as GET does, without the body', async () => {
    for (const path of ['admin/store/installed', '/healthz', 'openapi.json', '/metrics']) {
      const [head, get] = [await send(at(path), { method: 'HEAD' }), await send(at(path))];

      expect([path, head.status, head.headers['content-type'], head.body]).toEqual([
        path,
        get.status,
        get.headers['content-type'],
        '',
      ]);
    }
  });
});

describe('the OpenAPI document', () => {
  test('it has the status of every answer, under its own number, its hundred, or as a refusal', async () => {
    const { paths } = (await (await daemon.get('openapi.json')).json()) as {
      paths: Record<string, Record<string, { responses: Record<string, object> }>>;
    };
    const task = await daemon.submit('update');
    await daemon.finished(task);
    const answers: [method: string, path: string, query: string][] = [
      ['get', daemon.base, ''],
      ['get', '/healthz', ''],
      ['get', `${daemon.base}/admin/login`, ''],
      ['get', `${daemon.base}/admin/store/check_self_upgrade`, ''],
      ['get', `${daemon.base}/admin/system/tasks/log`, `?task_id=${task}&offset=100000`],
      ['get', `${daemon.base}/admin/system/tasks/log`, '?task_id=absent'],
      ['post', `${daemon.base}/admin/system/tasks/stop`, `?task_id=${task}&token=${token}`],
      ['post', `${daemon.base}/admin/store/del_record`, `?id=${'0'.repeat(32)}&token=${token}`],
    ];
    const seen = new Set<number>();
    for (const [method, path, query] of answers) {
      const { status } = await send(at(`${path}${query}`), { method: method.toUpperCase() });
      const documented = Object.keys(paths[path]?.[method]?.responses ?? {});
      seen.add(status);

      expect([
        path,
        status,
        documented.some(
          (key) =>
            key === String(status) ||
            key === `${String(status)[0] ?? ''}XX` ||
            (status >= 400 && key === 'default'),
        ),
      ]).toEqual([path, status, true]);
    }
    expect([...seen].sort()).toEqual([200, 204, 205, 302, 404]);
  });
});

describe('bodies', () => {
  const types = [
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded2',
    '',
  ];
  test.each(types)('one of the type "%s" is 415', async (type) => {
    const headers = type === '' ? {} : { 'Content-Type': type };
    const answer = await send(`${at('admin/store/update')}?token=${token}`, {
      method: 'POST',
      headers,
      body: '{"token":"x"}',
    });

    expect(answer.status).toBe(415);
    messageOf(answer);
  });

  const form = { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' };
  const large = `token=${'x'.repeat(64 * 1024)}`;
  test.each([form, { ...form, 'Transfer-Encoding': 'chunked' }])(
    'a form that is too large is 413 (%j)',
    async (headers) => {
      const answer = await send(at('admin/store/update'), { method: 'POST', headers, body: large });

      expect(answer.status).toBe(413);
      messageOf(answer);
    },
  );

  test('an empty body needs no type', async () => {
    expect(
      (
        await send(`${at('admin/store/update')}?token=${token}`, {
          method: 'POST',
          headers: { 'Content-Length': '0' },
        })
      ).status,
    ).toBe(200);
  });
});

describe('what is hardly HTTP', () => {
  const garbage: [string, string, number][] = [
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    [
      'headers that are too large',
      `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
    ],
    [
      'more header fields than anybody sends',
      `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${'a:\r\n'.repeat(200)}\r\n`,
      431,
    ],
    ['a header without a colon', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nbroken\r\n\r\n', 400],
    [
      'two lengths',
      'POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
      400,
    ],
    [
      'a length and chunks',
      'POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a target that is no path', 'GET nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    [
      'an expectation that nobody knows',
      'GET /nowhere HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
      404,
    ],
  ];
  test.each(garbage)('%s is refused in JSON', async (_, text, status) => {
    const answer = await sendBytes(daemon.url, Buffer.from(text, 'latin1'));

    expect(answer.status).toBe(status);
    messageOf(answer);
  });

  test('a target that names another host does not get past the guard', async () => {
    const answer = await sendBytes(
      daemon.url,
      `GET http://evil.example${daemon.base}/admin/store/installed HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    );

    expect(answer.status).toBe(421);
  });

  test('after all of that the daemon is well', async () => {
    expect(await (await daemon.get('/healthz')).json()).toMatchObject({ status: 'ok' });
  });
});

describe('conditional requests', () => {
  test.each(['admin/store/installed', 'admin/store/status?package=libc', 'openapi.json'])(
    '%s is 304 where the client still has it',
    async (path) => {
      const first = await send(at(path));
      const etag = String(first.headers.etag);
      expect(etag).toMatch(/^"[^"]+"$/);

      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await send(at(path), { headers: { 'If-None-Match': known } });
        expect([known, again.status, again.body, again.headers.etag]).toEqual([
          known,
          304,
          '',
          etag,
        ]);
      }
      for (const other of ['"other"', etag.slice(1, -1)]) {
        expect((await send(at(path), { headers: { 'If-None-Match': other } })).status).toBe(200);
      }
    },
  );
});

describe('listeners', () => {
  test('the socket is for its owner alone, and answers', async () => {
    const { mode } = await stat(socketPath);
    expect(mode & 0o777).toBe(0o600);

    expect((await send('http://localhost/healthz', { socketPath })).status).toBe(200);
    expect(
      (await send('http://localhost/healthz', { socketPath, headers: { Host: 'evil.example' } }))
        .status,
    ).toBe(421);
  });

  test('IPv6 answers under its address', async () => {
    const line = daemon.log.find((entry) => entry.includes('"address":"[::1]:0"')) ?? '{}';
    const { port } = JSON.parse(line) as { port?: number };
    const url = `http://[::1]:${port ?? 0}/healthz`;

    expect((await send(url)).status).toBe(200);
    expect((await send(url, { headers: { Host: '[::2]' } })).status).toBe(421);
  });
});
