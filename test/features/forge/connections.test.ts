import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createIdentity } from '../../support/self-signed.ts';
import { ask, listen, startDevice, stop, type DeviceSettings, type Device } from './device.ts';
import { startRawUpstream, startUpstream, type RawUpstream } from './upstream.ts';

const CONTENTS = '/api/v1/repos/o/r/contents';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const toClose: { close: () => Promise<void> }[] = [];

afterEach(async () => {
  for (const one of toClose.splice(0).toReversed()) await one.close();
});

async function before(
  play: Parameters<typeof startRawUpstream>[0],
  settings: DeviceSettings = {},
): Promise<{ device: Device; upstream: RawUpstream }> {
  const upstream = await startRawUpstream(play);
  const device = await startDevice({ upstream: upstream.url, ...settings });
  toClose.push(upstream, device);
  return { device, upstream };
}

test('no first byte in time is 504', async () => {
  const { device } = await before(() => undefined, { first_byte_timeout_s: 1 });
  const answer = await ask(device.port, CONTENTS);
  expect(answer.status).toBe(504);
  expect(answer.header('x-depotd-error')).toBe('upstream_timeout');
  expect(device.forge.health()).toMatchObject({
    configured: true,
    reachable: false,
    lastError: 'cannot get an answer: the forge sent nothing within 1 s',
  });
});

test('a stall in the middle breaks the connection; no limit on the whole', async () => {
  const { device } = await before(
    (socket, count) => {
      if (count === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
      else {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
        for (let step = 1; step <= 5; step += 1) setTimeout(() => socket.write('x'), step * 800);
      }
    },
    { idle_timeout_s: 3 },
  );
  expect(await ask(device.port, CONTENTS)).toMatchObject({ status: 200, isBroken: true });
  expect(await ask(device.port, CONTENTS)).toMatchObject({
    status: 200,
    isBroken: false,
    body: Buffer.from('xxxxx'),
  });
});

test('an upstream that takes no connection is 504, one that refuses it 502', async () => {
  // A listener whose queue is full answers no SYN: the nearest thing to a host that is gone.
  const full = createTcpServer();
  full.listen({ port: 0, host: '127.0.0.1', backlog: 1 });
  const port = await new Promise<number>((resolve) =>
    full.once('listening', () => resolve((full.address() as { port: number }).port)),
  );
  full.close();
  const device = await startDevice({ upstream: `http://127.0.0.1:${port}`, connect_timeout_s: 1 });
  toClose.push(device);
  const refused = await ask(device.port, CONTENTS);
  expect(refused.status).toBe(502);
  expect(refused.body.toString()).toContain('ECONNREFUSED');
  // 192.0.2.0/24 is for documentation (RFC 5737): nobody answers, or the net says at once that
  // there is no way.
  const gone = await startDevice({ upstream: 'http://192.0.2.1:9', connect_timeout_s: 1 });
  toClose.push(gone);
  expect([502, 504]).toContain((await ask(gone.port, CONTENTS)).status);
});

test('connections are kept and used again, and ended when the forge says so', async () => {
  const { device, upstream } = await before((socket) => socket.write(OK));
  for (let count = 0; count < 5; count += 1) await ask(device.port, CONTENTS);
  expect(upstream.received).toHaveLength(1);
  const closing = await before((socket) =>
    socket.write(OK.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')),
  );
  for (let count = 0; count < 3; count += 1) await ask(closing.device.port, CONTENTS);
  expect(closing.upstream.received).toHaveLength(3);
});

test('a GET on a kept connection that the forge closes is sent once more', async () => {
  const { device, upstream } = await before((socket, count) =>
    count === 2 ? socket.destroy() : socket.write(OK),
  );
  await ask(device.port, CONTENTS);
  expect(await ask(device.port, CONTENTS)).toMatchObject({ status: 200, body: Buffer.from('ok') });
  expect(upstream.received).toHaveLength(2);
});

test.each([
  ['POST', '/api/v1/repos/o/r/pulls/1/merge', '{"Do":"merge"}'],
  ['POST', '/api/v1/repos/o/r/pulls/1/reviews/1/undismissals', undefined],
  ['DELETE', '/api/v1/repos/o/r/pulls/1/merge', undefined],
])('%s is never sent twice', async (method, path, body) => {
  const { device, upstream } = await before((socket, count) =>
    count >= 2 ? socket.destroy() : socket.write(OK),
  );
  await ask(device.port, CONTENTS);
  expect(
    (await ask(device.port, path, { method, ...(body === undefined ? {} : { body }) })).status,
  ).toBe(502);
  expect(upstream.received.join('').match(new RegExp(`^${method} `, 'gm'))).toHaveLength(1);
});

test('a GET is not sent again on a new connection, not after a byte of the answer, and not a second time', async () => {
  const fresh = await before((socket) => socket.destroy());
  expect((await ask(fresh.device.port, CONTENTS)).status).toBe(502);
  expect(fresh.upstream.received).toHaveLength(1);
  const begun = await before((socket, count) =>
    count === 1 ? socket.write(OK) : socket.end('HTTP/1.1 2'),
  );
  await ask(begun.device.port, CONTENTS);
  expect((await ask(begun.device.port, CONTENTS)).status).toBe(502);
  expect(begun.upstream.received).toHaveLength(1);
  const always = await before((socket, count) =>
    count === 1 ? socket.write(OK) : socket.destroy(),
  );
  await ask(always.device.port, CONTENTS);
  expect((await ask(always.device.port, CONTENTS)).status).toBe(502);
  expect(always.upstream.received).toHaveLength(2);
});

test('500 callers that take nothing hinder neither each other nor those who do', async () => {
  const big = Buffer.alloc(4 * 1024 ** 2);
  const upstream = await startUpstream((response, { target }) =>
    response.end(target.includes('big') ? big : 'ok'),
  );
  const device = await startDevice({ upstream: upstream.url });
  toClose.push(upstream, device);
  const sockets = Array.from({ length: 500 }, () => {
    const socket = connect(device.port, '127.0.0.1')
      .pause()
      .on('error', () => undefined);
    socket.write('GET /api/v1/repos/o/r/raw/big HTTP/1.1\r\nHost: nas\r\n\r\n');
    return socket;
  });
  while (upstream.asked.length < 500) await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await ask(device.port, CONTENTS)).body.toString()).toBe('ok');
  for (const socket of sockets) socket.destroy();
});

test('the certificate of the forge is verified, with a further authority if one is configured', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-tls-'));
  const { key, cert } = await createIdentity(folder);
  const server = createTlsServer(
    { key: await readFile(key), cert: await readFile(cert) },
    (request, response) =>
      response.end(`hello ${request.headers.host ?? ''}${'x'.repeat(300_000)}`),
  );
  const port = await listen(server);
  toClose.push({ close: () => stop(server) });
  const strict = await startDevice({ upstream: `https://localhost:${port}` });
  const trusting = await startDevice({
    upstream: `https://localhost:${port}`,
    ca_file: cert,
  });
  const other = await startDevice({ upstream: `https://127.0.0.1:${port}`, ca_file: cert });
  toClose.push(strict, trusting, other);
  const refused = await ask(strict.port, CONTENTS);
  expect(refused.status).toBe(502);
  expect(refused.body.toString()).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  const answer = await ask(trusting.port, CONTENTS);
  expect(answer).toMatchObject({ status: 200, isBroken: false });
  expect(answer.body.toString()).toBe(`hello localhost:${port}${'x'.repeat(300_000)}`);
  expect((await ask(other.port, CONTENTS)).body.toString()).toContain(
    'ERR_TLS_CERT_ALTNAME_INVALID',
  );
});

test('health recovers with the next answer, also on a connection that was there before', async () => {
  const { device } = await before((socket, count) => count !== 2 && socket.write(OK), {
    first_byte_timeout_s: 3,
  });
  const [first, second] = [ask(device.port, CONTENTS), ask(device.port, CONTENTS)];
  expect([(await first).status, (await second).status].toSorted()).toEqual([200, 504]);
  expect(device.forge.health().reachable).toBe(false);
  await ask(device.port, CONTENTS);
  expect(device.forge.health().reachable).toBe(true);
});

test('stopping answers what waits and ends what runs', async () => {
  const { device, upstream } = await before(() => undefined);
  const asked = ask(device.port, CONTENTS);
  while (upstream.received.join('') === '') await new Promise((resolve) => setTimeout(resolve, 10));
  device.forge.close();
  expect((await asked).status).toBe(503);
  expect((await ask(device.port, CONTENTS)).header('x-depotd-error')).toBe('unavailable');
});
