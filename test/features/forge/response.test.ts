import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { ask, askRaw, collect, startDevice, type Device } from './device.ts';
import { startRawUpstream, startUpstream, type RawUpstream, type Upstream } from './upstream.ts';

const CONTENTS = '/api/v1/repos/o/r/contents';
const RAW = '/api/v1/repos/o/r/raw/x';
const toClose: { close: () => Promise<void> }[] = [];

afterEach(async () => {
  for (const one of toClose.splice(0).toReversed()) await one.close();
});

/**
 * A device before an upstream that answers each request with these bytes; `then` comes after them.
 */
async function playing(
  bytes: string,
  then?: (socket: Socket) => void,
): Promise<{ device: Device; upstream: RawUpstream }> {
  const upstream = await startRawUpstream((socket) => {
    socket.write(bytes, 'latin1');
    then?.(socket);
  });
  const device = await startDevice({
    upstream: upstream.url,
    first_byte_timeout_s: 1,
    idle_timeout_s: 1,
  });
  toClose.push(upstream, device);
  return { device, upstream };
}

async function serving(
  answer: Parameters<typeof startUpstream>[0],
): Promise<{ device: Device; upstream: Upstream }> {
  const upstream = await startUpstream(answer);
  const device = await startDevice({ upstream: upstream.url });
  toClose.push(upstream, device);
  return { device, upstream };
}

test.each([
  ['an empty 403', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', 403, ''],
  [
    'null',
    'HTTP/1.1 404 Not Found\r\nContent-Type: application/json;charset=utf-8\r\nContent-Length: 4\r\n\r\nnull',
    404,
    'null',
  ],
  [
    'a raw struct',
    'HTTP/1.1 409 Conflict\r\nContent-Length: 46\r\n\r\n{"Style":"merge","StdOut":"","StdErr":"","E":0}'.replace(
      '46',
      '47',
    ),
    409,
    '{"Style":"merge","StdOut":"","StdErr":"","E":0}',
  ],
  [
    'a page of a proxy in between',
    'HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>',
    502,
    '<html></html>',
  ],
  [
    'chunks with extensions and trailers',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n',
    200,
    'abc0123456789',
  ],
  [
    'an early hint before it',
    'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 Fine\r\nContent-Length: 1\r\n\r\nx',
    200,
    'x',
  ],
  ['a status without a reason', 'HTTP/1.1 201 \r\nContent-Length: 1\r\n\r\nx', 201, 'x'],
  [
    'text that is gzip',
    'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x00\xff',
    200,
    '\x1f\x8b\x00\xff',
  ],
  [
    'an answer from the age before lengths',
    'HTTP/1.0 200 OK\r\n\r\nuntil the end',
    200,
    'until the end',
  ],
])('%s passes as it is', async (...[, bytes, status, body]) => {
  const { device } = await playing(bytes, (socket) => bytes.startsWith('HTTP/1.0') && socket.end());
  const answer = await ask(device.port, CONTENTS);
  expect(answer).toMatchObject({ status, isBroken: false });
  expect(answer.body.toString('latin1')).toBe(body);
  expect(answer.header('x-depotd-error')).toBeUndefined();
});

test('headers keep spelling, order, number and bytes', async () => {
  const lines = [
    'X-Gitea-Object-Type: blob',
    'eTag: W/"a"',
    'X-Two: 1',
    'X-Two: 2',
    "Content-Disposition: inline; filename*=UTF-8''\xc3\xa4",
    'X-Empty: ',
    'Date: Thu, 01 Jan 1970 00:00:00 GMT',
    'Content-Length: 0',
  ];
  const { device } = await playing(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\n\r\n`);
  const answer = await askRaw(
    device.port,
    `GET ${RAW} HTTP/1.1\r\nHost: nas\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toBe(`HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
});

test.each([
  ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', 200, '5'],
  ['GET', 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 5\r\n\r\n', 304, '5'],
  ['GET', 'HTTP/1.1 204 No Content\r\n\r\n', 204, undefined],
])('%s %j has no body and keeps its length', async (...[method, bytes, status, length]) => {
  const { device, upstream } = await playing(bytes);
  const answer = await ask(device.port, RAW, { method });
  expect(answer).toMatchObject({ status, isBroken: false, body: Buffer.alloc(0) });
  expect(answer.header('content-length')).toBe(length);
  expect(upstream.received[0]?.startsWith(`${method} `)).toBe(true);
});

test('ranges pass both ways as sent, with no Accept-Ranges of our own', async () => {
  const { device, upstream } = await serving((response) =>
    response.writeHead(206, { 'Content-Range': 'bytes 0-1/5', 'Content-Length': 2 }).end('ab'),
  );
  const answer = await ask(device.port, RAW, {
    headers: { Range: 'bytes=0-1', 'If-Range': '"a"' },
  });
  expect(answer.status).toBe(206);
  expect(answer.lines.slice(0, 4)).toEqual(['Content-Range', 'bytes 0-1/5', 'Content-Length', '2']);
  expect(answer.header('accept-ranges')).toBeUndefined();
  expect(upstream.asked[0]?.headers).toMatchObject({ range: 'bytes=0-1', 'if-range': '"a"' });
});

test.each([301, 302, 303, 307, 308])(
  'a redirect %d goes to the caller and is never followed',
  async (status) => {
    const { device, upstream } = await serving((response) =>
      response.writeHead(status, { Location: 'https://store.example/signed?key=1' }).end(),
    );
    const answer = await ask(device.port, RAW);
    expect(answer.status).toBe(status);
    expect(answer.header('location')).toBe('https://store.example/signed?key=1');
    expect(upstream.asked).toHaveLength(1);
  },
);

test('paging leads back to the address that the caller used', async () => {
  const { device } = await serving((response) =>
    response
      .writeHead(200, {
        Link: '<https://forge.example/git/api/v1/repos/o/r/pulls?page=2>; rel="next"',
      })
      .end('[]'),
  );
  const direct = await ask(device.port, '/api/v1/repos/o/r/pulls?page=1', {
    headers: { Host: 'nas:81' },
  });
  expect(direct.header('link')).toBe('<http://nas:81/api/v1/repos/o/r/pulls?page=2>; rel="next"');
  const below = await ask(device.port, '/cgi-bin/panel/api/v1/repos/o/r/pulls', {
    headers: { Host: 'nas', 'X-Forwarded-Proto': 'https' },
  });
  expect(below.header('link')).toBe(
    '<https://nas/cgi-bin/panel/api/v1/repos/o/r/pulls?page=2>; rel="next"',
  );
});

test.each([
  ['a length that is not reached', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
  ['chunks without an end', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  [
    'a chunk that is none',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n',
  ],
  [
    'a chunk that is longer than it says',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf and more\r\n',
  ],
])('%s breaks the connection to the caller instead of ending it', async (_, bytes) => {
  const { device } = await playing(bytes, (socket) => setTimeout(() => socket.destroy(), 50));
  // Where head and mistake came together, nothing of the answer may have left yet.
  const answer = await ask(device.port, RAW).catch(() => ({ isBroken: true }));
  expect(answer.isBroken).toBe(true);
  expect(device.forge.health()).toMatchObject({ reachable: false });
});

test.each([
  [
    '10 MB of headers',
    `HTTP/1.1 200 OK\r\n${`X-Fill: ${'x'.repeat(1000)}\r\n`.repeat(10_000)}\r\n`,
  ],
  ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
])('%s is 502 with X-Depotd-Error', async (_, bytes) => {
  const { device } = await playing(bytes);
  const answer = await ask(device.port, RAW);
  expect(answer.status).toBe(502);
  expect(answer.header('x-depotd-error')).toBe('upstream_unreachable');
  expect(JSON.parse(answer.body.toString())).toMatchObject({ url: '' });
});

test('bytes behind the announced end are not taken for the next answer', async () => {
  const { device, upstream } = await playing(
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil',
  );
  for (let count = 0; count < 3; count += 1) {
    expect((await ask(device.port, RAW)).body.toString()).toBe('ok');
  }
  expect(upstream.received).toHaveLength(3);
});

test('head and first bytes pass before the rest is there', async () => {
  const { device } = await playing('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n', (socket) =>
    setTimeout(() => socket.write('half'), 20),
  );
  const request = httpRequest({ port: device.port, path: RAW, agent: false }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const [piece] = (await once(response, 'data')) as [Buffer];
  expect(piece.toString()).toBe('half');
  request.destroy();
});

test("the caller's going away ends the request upstream", async () => {
  const { device, upstream } = await playing('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
  const request: ClientRequest = httpRequest({ port: device.port, path: RAW, agent: false }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const [socket] = [...upstream.sockets];
  response.destroy();
  await once(socket as Socket, 'close');
  expect(upstream.sockets.size).toBe(0);
});

test('an answer that comes before the body is whole passes, and the rest of the body is thrown away', async () => {
  const upstream = await startRawUpstream((socket) =>
    socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno'),
  );
  const device = await startDevice({ upstream: upstream.url });
  toClose.push(upstream, device);
  const request = httpRequest({
    port: device.port,
    path: `${CONTENTS}/x`,
    method: 'POST',
    headers: { 'Content-Length': 40_000_000 },
    agent: false,
  });
  request.on('error', () => undefined);
  request.write(Buffer.alloc(1_000_000));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect(await collect(response)).toMatchObject({ status: 413, body: Buffer.from('no') });
  request.end(Buffer.alloc(39_000_000));
  await once(request, 'close');
});

test('back-pressure: a caller that reads nothing stops the reading from the forge', async () => {
  let written = 0;
  const { device } = await serving((response) => {
    response.writeHead(200, { 'Content-Length': 256 * 1024 ** 2 });
    const more = (): void => {
      while (written < 256 * 1024 ** 2 && response.write(Buffer.alloc(65_536))) written += 65_536;
    };
    response.on('drain', more);
    more();
  });
  const socket = connect(device.port, '127.0.0.1').pause();
  socket.write(`GET ${RAW} HTTP/1.1\r\nHost: nas\r\n\r\n`);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  expect(written).toBeLessThan(64 * 1024 ** 2);
  socket.destroy();
});
