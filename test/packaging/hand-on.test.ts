import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import { send } from '../support/raw-request.ts';
import { startOddDaemon, type OddDaemon } from './odd-daemon.ts';
import { exchangeBytes, openLines, respondWithRequest, type Received } from './received-request.ts';
import { startLighttpd, startNginx, startUhttpd, type WebServer } from './web-server.ts';

const MANY_BYTES = 3_000_000;

const NAMES = ['uhttpd', 'uhttpd itself', 'nginx', 'lighttpd'] as const;
type Name = (typeof NAMES)[number];

let answer: (request: IncomingMessage, response: ServerResponse) => void;
let daemon: OddDaemon;
let servers: Record<Name, WebServer>;

beforeAll(async () => {
  daemon = await startOddDaemon((request, response) => answer(request, response));
  const [cgi, handler, nginx, lighttpd] = await Promise.all([
    startUhttpd({ socket: daemon.socket }),
    startUhttpd({ socket: daemon.socket, relay: 'handler' }),
    startNginx(daemon.url),
    startLighttpd(daemon.url),
  ]);
  servers = { uhttpd: cgi, 'uhttpd itself': handler, nginx, lighttpd };
});

afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.close()));
  await daemon.close();
});

beforeEach(() => {
  answer = respondWithRequest;
});

const at = (name: Name, path: string): string => `${servers[name].url}/cgi-bin/panel${path}`;

test.each(NAMES)('%s: the target passes as the browser wrote it', async (name) => {
  const target = '/cgi-bin/panel/api/v1/a%2fb%20c//%c3%bc%7E~?x=%2F&y=%20+&x=1';
  const came = JSON.parse(
    await exchangeBytes(
      servers[name].url,
      `GET ${target} HTTP/1.1\r\nHost: panel\r\nConnection: close\r\n\r\n`,
    ),
  ) as Received;

  expect(came).toMatchObject({ method: 'GET', target });
});

test.each(NAMES)('%s: who asks is told afresh, whatever the client says', async (name) => {
  const lies = {
    'X-Forwarded-For': '192.0.2.1',
    'X-Forwarded-Proto': 'https',
    'X-Real-IP': '192.0.2.2',
    Forwarded: 'by=192.0.2.3',
    'Http-Auth-User': 'root',
  };
  const { headers } = JSON.parse(
    (await send(at(name, '/x'), { headers: { Host: 'panel:81', Cookie: 'a=1; b=2', ...lies } }))
      .body,
  ) as Received;

  expect(headers).toMatchObject({
    host: ['panel:81'],
    cookie: ['a=1; b=2'],
    'x-forwarded-for': ['127.0.0.1'],
    'x-forwarded-proto': ['http'],
  });
  expect(headers.forwarded).toHaveLength(1);
  expect(headers.forwarded?.[0]).toMatch(/by="127\.0\.0\.1(:\d+)?"/);
  expect(JSON.stringify(headers)).not.toContain('192.0.2.');
});

const METHODS = ['POST', 'DELETE'];
test.each(NAMES.flatMap((name) => METHODS.map((method) => [name, method] as const)))(
  '%s: a body of %s passes whole, with its length and in chunks',
  async (name, method) => {
    const body = Buffer.alloc(MANY_BYTES, 'x\0\xff\r\n');
    const whole = {
      method,
      size: MANY_BYTES,
      hash: createHash('sha256').update(body).digest('hex'),
    };
    const small = { size: 5, hash: createHash('sha256').update('a=b&c').digest('hex') };
    const inChunks = (content: Buffer): RequestInit => ({
      body: Readable.toWeb(Readable.from([content])) as ReadableStream,
      duplex: 'half',
    });

    expect(await (await fetch(at(name, '/x'), { method, body })).json()).toMatchObject(whole);
    expect(await (await fetch(at(name, '/x'), { method, ...inChunks(body) })).json()).toMatchObject(
      whole,
    );
    expect(await (await fetch(at(name, '/x'), { method, body: 'a=b&c' })).json()).toMatchObject(
      small,
    );
    expect(
      await (await fetch(at(name, '/x'), { method, ...inChunks(Buffer.from('a=b&c')) })).json(),
    ).toMatchObject(small);
    expect(await (await fetch(at(name, '/x'), { method })).json()).toMatchObject({ size: 0 });
  },
);

test.each(NAMES)('%s: status and header fields pass, several cookies too', async (name) => {
  answer = (_request, response) =>
    response
      .writeHead(409, {
        'Set-Cookie': ['a=1', 'b=2; Path=/'],
        'X-Depotd-Error': 'x',
        'Content-Type': 'text/odd',
      })
      .end('no');
  const came = await fetch(at(name, '/x'));

  expect([
    came.status,
    came.headers.getSetCookie(),
    came.headers.get('x-depotd-error'),
    came.headers.get('content-type'),
    await came.text(),
  ]).toEqual([409, ['a=1', 'b=2; Path=/'], 'x', 'text/odd', 'no']);
});

test.each(NAMES.flatMap((name) => [[name, 204] as const, [name, 304] as const]))(
  '%s: %i has no body, and the connection goes on',
  async (name, status) => {
    answer = (request, response) =>
      response.writeHead(request.url?.endsWith('/x') ? status : 200).end();
    const came = await exchangeBytes(
      servers[name].url,
      `GET ${new URL(at(name, '/x')).pathname} HTTP/1.1\r\nHost: panel\r\nConnection: close\r\n\r\n`,
    );

    expect(came).toBe('');
    expect((await fetch(at(name, '/y'))).status).toBe(200);
  },
);

test.each(NAMES)('%s: HEAD tells the length and sends nothing', async (name) => {
  answer = (_request, response) => response.writeHead(200, { 'content-length': 1234 }).end();
  const came = await fetch(at(name, '/x'), { method: 'HEAD' });

  expect([came.status, came.headers.get('content-length'), await came.text()]).toEqual([
    200,
    '1234',
    '',
  ]);
});

test.each(NAMES)(
  '%s: events arrive when they are sent, and the daemon hears that the browser has gone',
  async (name) => {
    const closed = vi.fn();
    let write = (data: string): unknown => data;
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('close', closed);
      write = (data) => void response.write(data);
      write('data: 1\n\n');
    };
    const reader = await openLines(at(name, '/events'));

    expect(await reader.next()).toBe('data: 1\n\n');
    write('data: 2\n\n');
    expect(await reader.next()).toBe('data: 2\n\n');
    reader.close();
    await vi.waitUntil(() => {
      write(':\n\n');
      return closed.mock.calls.length > 0;
    }, 20_000);
  },
);

// lighttpd hears of it when there is something to send.
test.each(['uhttpd', 'uhttpd itself', 'nginx'] as const)(
  '%s: an answer that nobody waits for any more is given up',
  async (name) => {
    const closed = vi.fn();
    const leaving = new AbortController();
    answer = (_request, response) => {
      response.on('close', closed);
      leaving.abort();
    };
    await expect(fetch(at(name, '/x'), { signal: leaving.signal })).rejects.toThrow();

    await vi.waitUntil(() => closed.mock.calls.length > 0, 20_000);
  },
);

const FORMS = ['with a length', 'in chunks'];
test.each(NAMES.flatMap((name) => FORMS.map((form) => [name, form] as const)))(
  '%s: an answer %s that breaks off is not taken for whole',
  async (name, form) => {
    let breakOff = (): unknown => undefined;
    answer = (_request, response) => {
      response.writeHead(200, form === 'in chunks' ? {} : { 'content-length': 1000 });
      response.write('x'.repeat(500));
      breakOff = () => response.destroy();
    };
    const came = await fetch(at(name, '/x'));
    const body = came.text();
    // Behind its first bytes: of chunks that break off together with them lighttpd 1.4.69 sometimes
    // makes a whole answer.
    breakOff();

    await expect(body).rejects.toThrow();
  },
  40_000,
);

test.each(NAMES)(
  '%s: a body that breaks off never reaches the daemon as a whole one',
  async (name) => {
    const ended = vi.fn();
    const closed = vi.fn();
    const { hostname, port, pathname } = new URL(at(name, '/x'));
    const client = connect(Number(port), hostname, () =>
      client.write(
        `POST ${pathname} HTTP/1.1\r\nHost: panel\r\nTransfer-Encoding: chunked\r\n\r\n7530\r\n${'x'.repeat(30_000)}\r\n`,
      ),
    );
    answer = (request, response) => {
      request.on('end', ended).on('data', () => client.resetAndDestroy());
      response.on('close', closed);
    };

    await vi.waitUntil(() => closed.mock.calls.length > 0, 20_000);
    expect(ended).not.toHaveBeenCalled();
  },
);

test.each(NAMES)('%s: an answer before the end of the body arrives', async (name) => {
  answer = (request, response) => {
    response.writeHead(413).end('too large');
    // As the daemon does. To close with bytes unread resets the connection (RFC 9112, section 9.6),
    // and then nginx may never see the answer.
    request.resume();
  };
  const { status, body } = await send(at(name, '/x'), {
    method: 'POST',
    headers: { 'content-length': 50_000 },
    body: 'x'.repeat(50_000),
  });

  expect([status, body]).toEqual([413, 'too large']);
});

test.each(NAMES)(
  '%s: of the fields that a CGI program of uhttpd does not see none is lost by another way',
  async (name) => {
    const fields = {
      Range: 'bytes=0-1',
      'If-None-Match': '"e"',
      'Last-Event-ID': '7',
      'X-CSRF-Token': 't',
      'Sec-Fetch-Site': 'same-origin',
    };
    const { headers } = JSON.parse(
      (await send(at(name, '/x'), { headers: fields })).body,
    ) as Received;

    for (const [field, value] of Object.entries(fields)) {
      expect(headers[field.toLowerCase()]).toEqual(name === 'uhttpd' ? undefined : [value]);
    }
  },
);
