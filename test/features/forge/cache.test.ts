import { mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask, startDevice, type Answer, type Device } from './device.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const RAW = '/api/v1/repos/o/r/raw/x';
const MINE = { Authorization: 'token mine' };

let upstream: Upstream;
let device: Device;
let etag: string;
let mode: 'up' | 'down';
let extra: Record<string, string>;

beforeEach(async () => {
  [etag, mode, extra] = ['"1"', 'up', {}];
  upstream = await startUpstream((response, { headers, target }) => {
    if (mode === 'down') response.destroy();
    else if (headers['if-none-match'] === etag) {
      response.writeHead(304, { ETag: etag, 'X-New': '1' }).end();
    } else if (extra['status'] !== undefined) response.writeHead(Number(extra['status'])).end('{}');
    else if (target.includes('cut')) {
      response.socket?.end(`HTTP/1.1 200 OK\r\nETag: ${etag}\r\n\r\nhalf of it`);
    } else {
      response
        .writeHead(200, { ETag: etag, 'Content-Type': 'text/plain', ...extra })
        .end(target.includes('big') ? Buffer.alloc(200_000, 'b') : `body ${etag}`);
    }
  });
  device = await startDevice({ upstream: upstream.url, cache_mb: 1 });
});

afterEach(async () => {
  await device.close();
  await upstream.close();
});

const get = (path = RAW, headers: Record<string, string> = MINE): Promise<Answer> =>
  ask(device.port, path, { headers });
const files = async (): Promise<string[]> =>
  (await readdir(device.cacheDir).catch(() => [])).filter(
    (name) => name !== 'key' && !name.endsWith('.part'),
  );

/** An answer is kept a moment after it was given. */
async function kept(count: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  let found = await files();
  while (found.length !== count && performance.now() < deadline) {
    await delay(5);
    found = await files();
  }
  expect(found).toHaveLength(count);
}

test('on a weak line an answer is confirmed by the forge each time and given from disk', async () => {
  expect((await get()).body.toString()).toBe('body "1"');
  await kept(1);
  const second = await get();
  expect(second).toMatchObject({ status: 200, body: Buffer.from('body "1"') });
  expect(second.header('x-new')).toBe('1');
  expect(second.header('content-type')).toBe('text/plain');
  expect(second.header('warning')).toBeUndefined();
  expect(upstream.asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"']);
  etag = '"2"';
  expect((await get()).body.toString()).toBe('body "2"');
});

test('where the forge cannot be reached the kept answer is given with Warning and Age', async () => {
  await get();
  await kept(1);
  mode = 'down';
  const answer = await get();
  expect(answer).toMatchObject({ status: 200, body: Buffer.from('body "1"') });
  expect(answer.header('warning')).toBe('111 depotd "Revalidation Failed"');
  expect(answer.header('age')).toMatch(/^\d+$/);
  expect(device.forge.health().reachable).toBe(false);
});

test('a kept answer is for its caller alone', async () => {
  await get();
  await kept(1);
  mode = 'down';
  expect((await get(RAW, { Authorization: 'token other' })).status).toBe(502);
  expect((await get(RAW, {})).status).toBe(502);
  expect((await get(RAW, { ...MINE, Sudo: 'u' })).status).toBe(502);
  expect((await get(`${RAW}?ref=b`)).status).toBe(502);
  expect((await get(RAW, { ...MINE, 'User-Agent': 'another' })).status).toBe(200);
});

test('no secret of the caller is on disk, and nobody else may read what is', async () => {
  await get(`${RAW}?access_token=SECRET`, { Authorization: 'token SECRET' });
  await kept(1);
  for (const name of await readdir(device.cacheDir)) {
    expect(`${name}${await readFile(join(device.cacheDir, name), 'latin1')}`).not.toContain(
      'SECRET',
    );
    expect((await stat(join(device.cacheDir, name))).mode & 0o077).toBe(0);
  }
  expect((await stat(device.cacheDir)).mode & 0o077).toBe(0);
});

test.each([
  ['credentials', '/api/v1/users/u/tokens', {}, {}],
  ['an answer with no-store', RAW, { 'Cache-Control': 'private, no-store' }, {}],
  ['an answer with a cookie', RAW, { 'Set-Cookie': 'a=1' }, {}],
  ['a range', RAW, {}, { Range: 'bytes=0-1' }],
  ['a request with no-store', RAW, {}, { 'Cache-Control': 'no-store' }],
])('never kept: %s', async (...[, path, answered, asked]) => {
  extra = answered;
  await get(path, { ...MINE, ...asked });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await files()).toEqual([]);
});

test('never kept: an answer of which only the end of the connection says that it is whole', async () => {
  expect((await get('/api/v1/repos/o/r/raw/cut')).body.toString()).toBe('half of it');
  await get();
  await kept(1);
  mode = 'down';
  expect((await get('/api/v1/repos/o/r/raw/cut')).status).toBe(502);
});

test.each([401, 403, 404, 410])(
  'what the forge has refused its caller since, with %d, is kept no longer',
  async (status) => {
    await get();
    await kept(1);
    [extra, etag] = [{ status: `${status}` }, '"2"'];
    expect((await get()).status).toBe(status);
    await kept(0);
  },
);

test('an answer for pages of one origin is not given to another', async () => {
  await get(RAW, { ...MINE, Origin: 'http://one' });
  await kept(1);
  mode = 'down';
  expect((await get(RAW, { ...MINE, Origin: 'http://two' })).status).toBe(502);
  expect((await get(RAW, { ...MINE, Origin: 'http://one' })).status).toBe(200);
});

test('a folder that cannot be used, or that somebody else may have filled, keeps nothing from passing', async () => {
  await mkdir(dirname(device.cacheDir), { recursive: true });
  await symlink(dirname(device.cacheDir), device.cacheDir);
  expect(await get()).toMatchObject({ status: 200, body: Buffer.from('body "1"') });
  expect(await get()).toMatchObject({ status: 200, body: Buffer.from('body "1"') });
  expect(await readdir(dirname(device.cacheDir))).toEqual(['cache']);
});

test("a caller's own question passes as it is", async () => {
  await get();
  await kept(1);
  const answer = await get(RAW, { ...MINE, 'If-None-Match': '"1"' });
  expect(answer).toMatchObject({ status: 304, body: Buffer.alloc(0) });
});

test('the cache stays within its limit, the answer used longest ago going first', async () => {
  for (let count = 0; count < 8; count += 1) {
    await get(`/api/v1/repos/o/r/raw/big${count}`);
    await kept(Math.min(count + 1, 5));
  }
  mode = 'down';
  await expect
    .poll(async () => (await get('/api/v1/repos/o/r/raw/big7')).body.length, { timeout: 10_000 })
    .toBe(200_000);
  expect((await get('/api/v1/repos/o/r/raw/big0')).status).toBe(502);
});

test('a spoilt file is as good as none, and a new daemon takes up what is there', async () => {
  await get();
  await get(`${RAW}2`);
  await kept(2);
  const [first = '', second = ''] = await files();
  await truncate(join(device.cacheDir, first), 50);
  await writeFile(join(device.cacheDir, second), 'nonsense');
  mode = 'down';
  expect((await get()).status).toBe(502);
  expect((await get(`${RAW}2`)).status).toBe(502);
  expect(await files()).toEqual([]);
});
