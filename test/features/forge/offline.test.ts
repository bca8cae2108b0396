import { readdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ROUTES } from '../../../src/features/forge/routes.ts';
import { ask, startDevice, type Answer, type Device } from './device.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** What was read through the device can be read again while the forge cannot be reached. */

const MINE = { Authorization: 'token mine' };
/** As forges send with JSON: no ETag, no Last-Modified. */
const JSON_HEADERS = {
  'Content-Type': 'application/json;charset=utf-8',
  'Cache-Control': 'max-age=0, private, must-revalidate, no-transform',
};
const PULLS = '/api/v1/repos/o/r/pulls';

let upstream: Upstream;
let device: Device;
let isDown: boolean;
let version: number;
let extra: Record<string, string>;
let body: string | Buffer | undefined;

beforeEach(async () => {
  [isDown, version, extra, body] = [false, 1, {}, undefined];
  upstream = await startUpstream((response, { target }) => {
    if (isDown) response.destroy();
    else if (target.endsWith('/merge')) response.writeHead(204).end();
    else {
      response.writeHead(200, { ...JSON_HEADERS, ...extra });
      response.end(body ?? JSON.stringify({ target, version }));
    }
  });
  device = await startDevice({ upstream: upstream.url, cache_mb: 256 });
});

afterEach(async () => {
  await device.close();
  await upstream.close();
});

const get = (path: string, headers: Record<string, string> = MINE): Promise<Answer> =>
  ask(device.port, path, { headers });

/** An answer is kept a moment after it was given. */
async function kept(count: number): Promise<void> {
  const files = async (): Promise<string[]> =>
    (await readdir(device.cacheDir).catch(() => [])).filter((name) => /^[0-9a-f]{64}$/.test(name));
  await expect.poll(async () => (await files()).length).toBe(count);
}

test('every kind of answer that is read can be read again, and says that it is old', async () => {
  const paths = ROUTES.filter(({ needs }) => needs === 'read').map(({ pattern }) =>
    `/api/v1${pattern}`
      .replace('{index}.{diffType}', '7.diff')
      .replace(/\{(?:index|id)\}/g, '7')
      .replace(/\{\w+\.*\??\}/g, 'x'),
  );
  expect(paths).toHaveLength(18);
  const before = await Promise.all(paths.map((path) => get(path)));
  await kept(18);
  isDown = true;

  for (const [index, path] of paths.entries()) {
    const answer = await get(path);
    expect([path, answer.status]).toEqual([path, before[index]?.status]);
    expect(answer.body).toEqual(before[index]?.body);
    expect(answer.header('warning')).toBe('111 depotd "Revalidation Failed"');
    expect(answer.header('age')).toMatch(/^\d+$/);
  }
});

test('an answer that was old when it came has one Age, which counts that time, too', async () => {
  extra = { Age: '3600', Warning: '199 cache "slow"' };
  await get(PULLS);
  await kept(1);
  isDown = true;

  const { lines } = await get(PULLS);
  const ages = lines.filter((_, index) => lines[index - 1]?.toLowerCase() === 'age');
  expect(ages.map((age) => Math.floor(Number(age) / 100))).toEqual([36]);
});

test('while the forge answers, what it says is what the caller gets, and the newest is kept', async () => {
  await get(PULLS);
  await kept(1);
  version = 2;
  const second = await get(PULLS);
  expect(second.body.toString()).toContain('"version":2');
  expect(second.header('warning')).toBeUndefined();
  isDown = true;

  await expect.poll(async () => (await get(PULLS)).body.toString()).toContain('"version":2');
});

const spellings: [asked: string, headers: Record<string, string>][] = [
  [PULLS, { ...MINE, Accept: 'text/html' }],
  [PULLS, { ...MINE, 'Accept-Language': 'de', 'Accept-Encoding': 'gzip' }],
  [PULLS, { authorization: 'token mine', 'X-Requested-With': 'XMLHttpRequest' }],
  [PULLS, { ...MINE, Host: 'localhost' }],
  [PULLS, { 'User-Agent': 'x', ...MINE, 'Sec-Fetch-Site': 'same-origin' }],
  ['/api/v1//repos/o//r/pulls/', MINE],
  ['//api/v1/repos/o/r/pulls', MINE],
  ['/cgi-bin/panel/api/v1/repos/o/r/pulls', MINE],
  ['/api/v1/repos/%6F/%72/pulls', MINE],
  [`${PULLS}?`, MINE],
  [`${PULLS}?_t=123`, MINE],
];
test.each(spellings)(
  'one caller is given its answer however it asks: %s %j',
  async (path, headers) => {
    await get(PULLS);
    await kept(1);
    isDown = true;

    expect((await get(path, headers)).status).toBe(200);
  },
);

test('parameters in another order or spelling are the same question', async () => {
  await get(`${PULLS}?state=open&labels=1&labels=2&q=a+b%2fc`);
  await kept(1);
  isDown = true;

  expect((await get(`${PULLS}?labels=1&q=a%20b%2Fc&&st%61te=open&labels=2`)).status).toBe(200);
  expect((await get(`${PULLS}?labels=2&labels=1&q=a+b%2fc&state=open`)).status).toBe(502);
});

const others: [path: string, headers: Record<string, string>][] = [
  [PULLS, {}],
  [PULLS, { Authorization: 'token other' }],
  [PULLS, { ...MINE, Sudo: 'u' }],
  [PULLS, { ...MINE, 'X-Unknown-Identity': 'u' }],
  [`${PULLS}?state=closed`, MINE],
  ['/api/v1/repos/o%2Fr/x/pulls', MINE],
  ['/api/v1/repos/O/r/pulls', MINE],
];
test.each(others)(
  'nobody is given an answer to another, or to another question: %s %j',
  async (path, headers) => {
    await get(PULLS);
    await kept(1);
    isDown = true;

    expect((await get(path, headers)).status).toBe(502);
  },
);

describe('what the forge chose by a header', () => {
  test('is given only to who sends the same', async () => {
    extra = { Vary: 'Accept-Encoding, X-Shape' };
    await get(PULLS, { ...MINE, 'X-Shape': 'round' });
    await kept(1);
    extra = { Vary: 'Accept' };
    await get(`${PULLS}/7`, { ...MINE, Accept: 'application/json' });
    await kept(2);
    isDown = true;

    expect((await get(`${PULLS}/7`, { ...MINE, Accept: 'application/json' })).status).toBe(200);
    expect((await get(`${PULLS}/7`, { ...MINE, Accept: 'text/html' })).status).toBe(502);
  });

  test('in a coding goes to who can read it', async () => {
    extra = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' };
    body = gzipSync('{}');
    await get(PULLS, { ...MINE, 'Accept-Encoding': 'gzip' });
    await kept(1);
    isDown = true;

    expect((await get(PULLS, { ...MINE, 'Accept-Encoding': 'br, GZIP;q=0.5' })).body).toEqual(body);
    for (const accepted of ['identity', 'gzip;q=0', 'br']) {
      expect((await get(PULLS, { ...MINE, 'Accept-Encoding': accepted })).status).toBe(502);
    }
  });

  test('or by anything is not kept', async () => {
    extra = { Vary: 'Accept, *' };
    await get(PULLS);
    await get(`${PULLS}/7/merge`);
    await kept(1);
  });
});

test('a large answer from a fast forge is kept, each time', async () => {
  body = Buffer.alloc(24 * 1024 ** 2, 'large');
  for (let index = 0; index < 5; index += 1) {
    const answer = await get(`/api/v1/repos/o/r/archive/${index}.zip`);
    expect(answer.body.equals(body)).toBe(true);
    await kept(index + 1);
  }
  isDown = true;

  expect((await get('/api/v1/repos/o/r/archive/0.zip')).body.equals(body)).toBe(true);
});
