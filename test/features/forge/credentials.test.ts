import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { metricsText } from '../../../src/http/metrics-text.ts';
import { ask, startDevice, type Device } from './device.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const CONTENTS = '/api/v1/repos/o/r/contents';
const SESSION = { Cookie: 'sysauth_http=valid' };

let upstream: Upstream;
let device: Device;
let tokenFile: string;

beforeAll(async () => {
  tokenFile = join(await mkdtemp(join(tmpdir(), 'depotd-token-')), 'token');
  upstream = await startUpstream((response) => response.end('{}'));
  device = await startDevice({
    upstream: upstream.url,
    token_file: tokenFile,
    session: ({ headers }) =>
      Promise.resolve(
        headers.cookie === SESSION.Cookie ? { token: 'csrf-secret', mayWrite: true } : undefined,
      ),
  });
});

beforeEach(async () => {
  upstream.asked.length = 0;
  await writeFile(tokenFile, 'device-secret\n');
});

afterAll(async () => {
  await device.close();
  await upstream.close();
});

const sent = (): string | undefined => upstream.asked.at(-1)?.headers.authorization;

test("the device's token goes with a valid session that brings no Authorization", async () => {
  await ask(device.port, CONTENTS, { headers: SESSION });
  expect(sent()).toBe('token device-secret');
  expect(upstream.asked[0]?.headers.cookie).toBeUndefined();
});

test("the caller's own Authorization always wins, and without a session nothing is lent", async () => {
  await ask(device.port, CONTENTS, { headers: { ...SESSION, Authorization: 'Bearer mine' } });
  expect(sent()).toBe('Bearer mine');
  await ask(device.port, CONTENTS, { headers: { Cookie: 'sysauth_http=stale' } });
  expect(sent()).toBeUndefined();
  await ask(device.port, `${CONTENTS}/x`, {
    method: 'POST',
    headers: { Authorization: 'token mine' },
    body: '{}',
  });
  expect(sent()).toBe('token mine');
});

test('Connection cannot remove what the proxy adds', async () => {
  await ask(device.port, CONTENTS, {
    headers: { ...SESSION, Connection: 'Authorization, X-Forwarded-For' },
  });
  expect(sent()).toBe('token device-secret');
  expect(upstream.asked[0]?.headers['x-forwarded-for']).toBe('127.0.0.1');
});

test.each([['http://elsewhere'], ['null']])(
  'the token is not lent to a page of another origin, which a forge might let read the answer: %s',
  async (origin) => {
    await ask(device.port, CONTENTS, { headers: { ...SESSION, Host: 'nas', Origin: origin } });
    expect(sent()).toBeUndefined();
    await ask(device.port, CONTENTS, {
      headers: { ...SESSION, Host: 'nas', Origin: 'http://nas' },
    });
    expect(sent()).toBe('token device-secret');
  },
);

test.each([['cross-site'], ['same-site'], ['cross-site, none']])(
  'the token is not lent to what another site embeds, which has no Origin: Sec-Fetch-Site %s',
  async (site) => {
    await ask(device.port, CONTENTS, { headers: { ...SESSION, 'Sec-Fetch-Site': site } });
    expect(sent()).toBeUndefined();
    for (const own of ['same-origin', 'none']) {
      await ask(device.port, CONTENTS, { headers: { ...SESSION, 'Sec-Fetch-Site': own } });
      expect(sent()).toBe('token device-secret');
    }
  },
);

test.each([
  '/admin',
  '/admin/users',
  '//admin/users',
  '/./admin/users',
  '/ADMIN/users',
  '/%61dmin/users',
  '/%2561dmin/users',
  '/%2Fadmin/users',
  '/%2e/admin/users',
  '/admin;x/users',
  '/admin%3Fx/users',
  '/admin%2523x/users',
  '/%20admin/users',
  '/admin%09/users',
  '/admin%0d%0a/users',
  '/admin./users',
])("the token is never lent for the forge's administration: %s", async (path) => {
  const all = await startDevice({
    upstream: upstream.url,
    token_file: tokenFile,
    expose: 'all',
    session: () => Promise.resolve({ token: 'csrf-secret', mayWrite: true }),
  });
  await ask(all.port, `/api/v1${path}`);
  expect(sent()).toBeUndefined();
  await ask(all.port, '/api/v1/administrators');
  expect(sent()).toBe('token device-secret');
  await all.close();
});

test.each([[undefined], ['wrong'], ['']])(
  "a changing request with the device's token and X-CSRF-Token %j is 403, without traffic",
  async (token) => {
    const headers = { ...SESSION, ...(token === undefined ? {} : { 'X-CSRF-Token': token }) };
    const answer = await ask(device.port, `${CONTENTS}/x?token=csrf-secret`, {
      method: 'POST',
      headers,
      body: '{"a":1}',
    });
    expect(answer.status).toBe(403);
    expect(answer.header('x-depotd-error')).toBe('forbidden');
    expect(upstream.asked).toEqual([]);
  },
);

test('with the right X-CSRF-Token it passes, body and all, and the token stays here', async () => {
  await ask(device.port, `${CONTENTS}/x?token=csrf-secret&_t=1`, {
    method: 'PUT',
    headers: { ...SESSION, 'X-CSRF-Token': 'csrf-secret' },
    body: '{"a":1}',
  });
  expect(upstream.asked[0]).toMatchObject({
    target: `${CONTENTS}/x`,
    body: '{"a":1}',
    headers: { authorization: 'token device-secret' },
  });
  expect(JSON.stringify(upstream.asked)).not.toContain('csrf-secret');
});

test('the token is read each time; a file that is missing or holds no token is 503', async () => {
  await writeFile(tokenFile, 'changed');
  await ask(device.port, CONTENTS, { headers: SESSION });
  expect(sent()).toBe('token changed');
  for (const text of ['', 'two words', 'a\r\nX-Evil: 1']) {
    await writeFile(tokenFile, text);
    expect((await ask(device.port, CONTENTS, { headers: SESSION })).status).toBe(503);
  }
  await rm(tokenFile);
  expect((await ask(device.port, CONTENTS, { headers: SESSION })).header('x-depotd-error')).toBe(
    'unavailable',
  );
});

test('logs: no secret, query, body or path is written, and the route is a pattern', async () => {
  const secret = 'S3cr3t';
  const headers = { ...SESSION, 'X-CSRF-Token': 'csrf-secret', 'X-Gitea-OTP': secret };
  await ask(device.port, `/api/v1/users/${secret}/tokens?access_token=${secret}`, {
    method: 'POST',
    headers,
    body: `{"name":"${secret}"}`,
  });
  await ask(device.port, `/api/v1/repos/${secret}/${secret}/raw/${secret}?x=${secret}`, {
    headers: { Authorization: `token ${secret}` },
  });
  const text = [...device.log, metricsText(device.forge.metrics())].join('\n');
  expect(text).toContain('/users/{username}/tokens');
  for (const hidden of [secret, 'csrf-secret', 'device-secret', 'sysauth']) {
    expect(text).not.toContain(hidden);
  }
});
