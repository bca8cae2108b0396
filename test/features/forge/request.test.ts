import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ask, askRaw, startDevice, type Device } from './device.ts';
import { startUpstream, type Asked, type Upstream } from './upstream.ts';

let upstream: Upstream;
let device: Device;
let open: Device;

beforeAll(async () => {
  upstream = await startUpstream((response) =>
    response.writeHead(200, { 'Content-Type': 'application/json;charset=utf-8' }).end('{}'),
  );
  device = await startDevice({ upstream: `${upstream.url}/git` });
  open = await startDevice({ upstream: upstream.url, expose: 'all', path: '/api/v3' });
});

beforeEach(() => {
  upstream.asked.length = 0;
});

afterAll(async () => {
  await device.close();
  await open.close();
  await upstream.close();
});

const CONTENTS = '/api/v1/repos/o/r/contents';
const last = (): Asked | undefined => upstream.asked.at(-1);

test.each([
  [`${CONTENTS}/a%2Fb%2fc%252F+;:.%20`, `/git${CONTENTS}/a%2Fb%2fc%252F+;:.%20`],
  [`${CONTENTS}//x///`, `/git${CONTENTS}//x///`],
  [
    `/cgi-bin/panel${CONTENTS}?ref=a+b%20c&labels=1&labels=2`,
    `/git${CONTENTS}?ref=a+b%20c&labels=1&labels=2`,
  ],
  [`${CONTENTS}?token=SECRET&ref=x&_t=17`, `/git${CONTENTS}?ref=x`],
  [`${CONTENTS}?%zz`, `/git${CONTENTS}?%zz`],
])('of targets, with prefix, query and panel token, %s goes as %s', async (sent, expected) => {
  expect((await ask(device.port, sent)).status).toBe(200);
  expect(last()?.target).toBe(expected);
});

test.each([
  ['GET /api/v1/repos/../../admin HTTP/1.1', 400],
  ['GET /api/v1/repos/o/r/raw/%2e%2e%2f%2e%2e HTTP/1.1', 400],
  ['GET /api/v1/repos/o/r/raw/a%00 HTTP/1.1', 400],
  ['GET /api/v1/repos/o/r/raw/a\\..\\b HTTP/1.1', 400],
  ['GET http://elsewhere/api/v1/repos/o/r/contents HTTP/1.1', 418],
  ['GET //elsewhere/api/v1/repos/o/r/contents HTTP/1.1', 418],
  ['GET /api/v1/version HTTP/1.1', 404],
  ['DELETE /api/v1/repos/o/r HTTP/1.1', 404],
])('"%s" gets %d without any traffic upstream', async (line, status) => {
  const answer = await askRaw(device.port, `${line}\r\nHost: nas\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(upstream.asked).toEqual([]);
});

test("the proxy's own refusals have the forge's shape and a header of their own", async () => {
  const answer = await ask(device.port, '/api/v1/version');
  expect(answer.header('X-Depotd-Error')).toBe('not_found');
  expect(JSON.parse(answer.body.toString())).toEqual({
    message: 'cannot find this operation: it is not one of the documented ones',
    url: '',
  });
});

test('forge.expose all opens every path below another API root', async () => {
  expect((await ask(open.port, '/api/v3/version?x')).status).toBe(200);
  expect(last()?.target).toBe('/api/v3/version?x');
  expect((await ask(open.port, '/api/v1/version')).status).toBe(418);
});

test('Host, identity headers, cookies and hop-by-hop headers for the upstream are set afresh', async () => {
  const headers = [
    'Host',
    'nas.lan:81',
    'X-Forwarded-For',
    '6.6.6.6',
    'x-forwarded-proto',
    'https',
    'X-Forwarded-Host',
    'evil',
    'X-WEBAUTH-USER',
    'root',
    'Cookie',
    'sysauth_http=S; a=1',
    'X-CSRF-Token',
    'T',
    'Connection',
    'X-Hop',
    'X-Hop',
    '1',
    'Authorization',
    'token mine',
    'Sudo',
    'u',
  ];
  await ask(device.port, CONTENTS, { headers });
  const asked = last();
  expect(asked?.lines).toEqual([
    'Host',
    upstream.url.slice(7),
    'Authorization',
    'token mine',
    'Sudo',
    'u',
    'X-Forwarded-For',
    '127.0.0.1',
    'X-Forwarded-Proto',
    'http',
    'X-Forwarded-Host',
    'nas.lan:81',
  ]);
});

test.each(['POST', 'PUT', 'DELETE'])('%s passes its body with its length', async (method) => {
  await ask(device.port, `${CONTENTS}/x`, {
    method,
    headers: { 'Content-Length': '9' },
    body: '{"sha":1}',
  });
  expect(last()).toMatchObject({ method, body: '{"sha":1}', headers: { 'content-length': '9' } });
});

test('a packed body passes as it is, and how it is packed with it', async () => {
  const coding = { 'Content-Length': '3', 'Content-Encoding': 'gzip' };
  await ask(device.port, `${CONTENTS}/x`, { method: 'POST', headers: coding, body: 'abc' });
  expect(last()).toMatchObject({ body: 'abc', headers: { 'content-encoding': 'gzip' } });
});

test('a chunked body passes chunked, an empty one with length 0, and none as none', async () => {
  await ask(device.port, `${CONTENTS}/x`, {
    method: 'DELETE',
    headers: { 'Transfer-Encoding': 'chunked' },
    body: 'abc',
  });
  expect(last()).toMatchObject({ body: 'abc', headers: { 'transfer-encoding': 'chunked' } });
  await ask(device.port, `${CONTENTS}/x`, { method: 'POST', headers: { 'Content-Length': '0' } });
  expect(last()?.headers['content-length']).toBe('0');
  await askRaw(
    device.port,
    `DELETE ${CONTENTS}/x HTTP/1.1\r\nHost: nas\r\nConnection: close\r\n\r\n`,
  );
  expect(last()?.lines.join()).not.toMatch(/content-length|transfer-encoding/i);
});

test('a body on GET is not sent on', async () => {
  await ask(device.port, CONTENTS, { headers: { 'Content-Length': '3' }, body: 'abc' });
  expect(last()).toMatchObject({ method: 'GET', body: '' });
  expect(last()?.headers['content-length']).toBeUndefined();
});

test('Content-Length beside Transfer-Encoding, or an unknown coding, is 400', async () => {
  for (const framing of [
    'Content-Length: 3\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Content-Length: 3\r\nContent-Length: 4',
  ]) {
    const answer = await askRaw(
      device.port,
      `POST ${CONTENTS}/x HTTP/1.1\r\nHost: nas\r\nConnection: close\r\n${framing}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
  }
  expect(upstream.asked).toEqual([]);
});

test('Expect: 100-continue is answered here and the body passes', async () => {
  const answer = await askRaw(
    device.port,
    `POST ${CONTENTS}/x HTTP/1.1\r\nHost: nas\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
  expect(last()).toMatchObject({ body: '{}' });
});

test('an upgrade to another protocol is refused', async () => {
  const answer = await askRaw(
    device.port,
    `GET ${CONTENTS} HTTP/1.1\r\nHost: nas\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(upstream.asked).toEqual([]);
});

test('a CORS preflight passes through', async () => {
  expect(
    (await ask(device.port, CONTENTS, { method: 'OPTIONS', headers: { Origin: 'http://x' } }))
      .status,
  ).toBe(200);
  expect(last()).toMatchObject({ method: 'OPTIONS', headers: { origin: 'http://x' } });
});

test('without forge.upstream every forge path is 503 and says so', async () => {
  const none = await startDevice({});
  const answer = await ask(none.port, '/api/v1/version');
  expect(answer.status).toBe(503);
  expect(answer.header('x-depotd-error')).toBe('unavailable');
  expect(answer.body.toString()).toContain('forge.upstream');
  expect(none.forge.health()).toEqual({ configured: false });
  await none.close();
});
