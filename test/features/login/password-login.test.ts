import { rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { ask, type Answer, type Question } from '../../support/ask.ts';
import { createOwner, type Owner } from '../../support/owner.ts';

let device: Device;
let daemon: TestDaemon;
let owner: Owner;
let socketPath: string;

beforeEach(async () => {
  device = await createDevice();
  socketPath = join(device.root, 'depotd.sock');
  daemon = await startDaemon(device, {
    set: ['main.auth=password', `main.listen=unix:${socketPath}`],
  });
  owner = createOwner(daemon);
  await vi.waitFor(() => stat(socketPath), { timeout: 20_000 });
});

afterEach(async () => {
  await daemon.close();
  await device.close();
});

function admin(path: string, question: Question = {}): Promise<Answer> {
  return ask(`${daemon.url}${daemon.base}/admin/${path}`, question);
}

function tokenStatus(cookie: string): Promise<number> {
  return admin('store/token', { headers: { cookie } }).then(({ status }) => status);
}

test('a log-in gives a cookie that scripts and other sites do not get, and opens the doors', async () => {
  await owner.setPassword('secret');
  const answer = await owner.tryPassword('secret');

  expect(answer.status).toBe(204);
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^depotd_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
  expect(await tokenStatus(answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '')).toBe(200);
});

test('behind TLS the cookie is for TLS alone, and only a proxy on this host is believed', async () => {
  await owner.setPassword('secret');
  const headers = { 'x-forwarded-proto': 'https' };
  const answers = [
    await owner.tryPassword('secret', { headers }),
    await owner.tryPassword('secret', { headers, socketPath }),
    await owner.tryPassword('secret', { headers: { 'x-forwarded-proto': 'http' } }),
  ];

  expect(answers.map((answer) => answer.headers['set-cookie']?.[0]?.includes('; Secure'))).toEqual([
    true,
    true,
    false,
  ]);
});

test('a wrong password gets 403 and no cookie', async () => {
  await owner.setPassword('secret');
  const answer = await owner.tryPassword('wrong');

  expect([answer.status, answer.headers['set-cookie'], JSON.parse(answer.text)]).toEqual([
    403,
    undefined,
    { code: 403, msg: 'cannot log in: the password is wrong' },
  ]);
});

test('while no password is set nobody gets in, and the answer says what to do', async () => {
  const answer = await owner.tryPassword('');

  expect(answer.status).toBe(400);
  expect(JSON.parse((await owner.tryPassword('x')).text)).toMatchObject({
    code: 403,
    msg: expect.stringContaining('depotctl passwd') as string,
  });
});

test('after ten wrong attempts at once the address waits, right password or not, whatever X-Forwarded-For says', async () => {
  await owner.setPassword('secret');
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, index) =>
      owner.tryPassword('wrong', {
        headers: { 'x-forwarded-for': `192.0.2.${index}`, 'x-real-ip': `192.0.2.${index}` },
      }),
    ),
  );
  const counts = answers.map(({ status }) => status).sort();

  expect(counts).toEqual([...Array<number>(10).fill(403), ...Array<number>(5).fill(429)]);
  const late = await owner.tryPassword('secret');
  expect(late.status).toBe(429);
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(late.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect((await owner.tryPassword('secret', { localAddress: '127.0.0.2' })).status).toBe(204);
});

test('those who are logged in stay so while their address waits', async () => {
  await owner.setPassword('secret');
  const { cookie } = await owner.logIn('secret');
  await Promise.all(Array.from({ length: 11 }, () => owner.tryPassword('wrong')));

  expect(await tokenStatus(cookie)).toBe(200);
});

test('the old password is guessed at no faster through passwd', async () => {
  await owner.setPassword('secret');
  for (let index = 0; index < 10; index += 1) {
    expect((await owner.setPassword('mine', `guess ${index}`)).status).toBe(403);
  }

  expect((await owner.setPassword('mine', 'secret')).status).toBe(429);
});

test('a log-out needs the token, ends the session and takes the cookie back', async () => {
  await owner.setPassword('secret');
  const { cookie, token } = await owner.logIn('secret');

  expect((await admin('logout', { method: 'POST', headers: { cookie } })).status).toBe(403);
  expect(await tokenStatus(cookie)).toBe(200);
  const answer = await admin('logout', { method: 'POST', headers: { cookie }, form: { token } });
  expect([answer.status, answer.headers['set-cookie']]).toEqual([
    204,
    ['depotd_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0'],
  ]);
  expect(await tokenStatus(cookie)).toBe(403);
});

test('a log-in never takes up the id that the browser came with, and ends that session', async () => {
  await owner.setPassword('secret');
  const { cookie: earlier } = await owner.logIn('secret');
  const planted = 'p'.repeat(43);
  const answer = await owner.tryPassword('secret', {
    headers: { cookie: `depotd_session=${planted}; ${earlier}` },
  });

  expect(answer.headers['set-cookie']?.[0]).not.toContain(planted);
  expect([await tokenStatus(`depotd_session=${planted}`), await tokenStatus(earlier)]).toEqual([
    403, 403,
  ]);
});

test.for([
  ['another site', { origin: 'https://evil.example' }],
  ['a page without origin', { origin: 'null' }],
  ['a sibling site', { 'sec-fetch-site': 'same-site' }],
  ['another site without Origin', { 'sec-fetch-site': 'cross-site' }],
] as const)('%s can log nobody in or out and set no password', async ([, headers]) => {
  const first = await owner.setPassword('theirs', undefined, { headers });
  await owner.setPassword('secret');
  const { cookie, token } = await owner.logIn('secret');
  const others = [
    await owner.tryPassword('secret', { headers }),
    await admin('logout', { method: 'POST', headers: { ...headers, cookie }, form: { token } }),
    await owner.setPassword('theirs', 'secret', { headers }),
  ];

  expect([first, ...others].map(({ status }) => status)).toEqual([403, 403, 403, 403]);
});

test('a new password needs the old one and ends all sessions', async () => {
  await owner.setPassword('secret');
  const { cookie, token } = await owner.logIn('secret');

  expect((await owner.setPassword('new')).status).toBe(403);
  expect((await owner.setPassword('new', 'wrong')).status).toBe(403);
  expect(
    (
      await admin('passwd', {
        method: 'POST',
        headers: { cookie },
        form: { token, password: 'new' },
      })
    ).status,
  ).toBe(403);
  expect((await owner.setPassword('new', 'secret')).status).toBe(204);
  expect(await tokenStatus(cookie)).toBe(403);
  expect([
    (await owner.tryPassword('secret')).status,
    (await owner.tryPassword('new')).status,
  ]).toEqual([403, 204]);
});

test.for(['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via', 'x-real-ip'])(
  'the first password is not set through a proxy that sends %s',
  async (name) => {
    expect(
      (await owner.setPassword('theirs', undefined, { headers: { [name]: '192.0.2.1' } })).status,
    ).toBe(403);
    expect(
      (
        await owner.setPassword('theirs', undefined, {
          headers: { [name]: '192.0.2.1' },
          socketPath,
        })
      ).status,
    ).toBe(403);
  },
);

test('the first password can be set over the unix socket', async () => {
  expect((await owner.setPassword('secret', undefined, { socketPath })).status).toBe(204);
  expect((await owner.tryPassword('secret')).status).toBe(204);
});

test('a removed password file closes every door and lets the owner begin anew', async () => {
  await owner.setPassword('secret');
  await rm(join(device.root, 'etc/depotd/password'));

  expect((await owner.tryPassword('secret')).status).toBe(403);
  expect((await owner.setPassword('new')).status).toBe(204);
});

test('sessions outlive the reading of the configuration', async () => {
  await owner.setPassword('secret');
  const { cookie } = await owner.logIn('secret');
  process.kill(daemon.pid, 'SIGHUP');
  await daemon.logged('configuration read again');

  expect(await tokenStatus(cookie)).toBe(200);
});

test('no password, session id or token reaches the log', async () => {
  await owner.setPassword('s3cret-first');
  const { cookie, token } = await owner.logIn('s3cret-first');
  await owner.tryPassword('s3cret-wrong');
  await daemon.logged('wrong password');

  const log = daemon.log.join('\n');
  expect(['s3cret', cookie.slice(-43), token].map((secret) => log.includes(secret))).toEqual([
    false,
    false,
    false,
  ]);
});

test('the log-in page needs nothing from elsewhere and no frame may hold it', async () => {
  const page = await admin('login');

  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; .*frame-ancestors 'none'$/,
  );
  expect(page.text).not.toMatch(/https?:/);
});

test('many at once wait for their turn, and reads do not wait with them', async () => {
  await owner.setPassword('secret');
  const { cookie } = await owner.logIn('secret');
  const attempts = Array.from({ length: 60 }, (_, index) =>
    owner.tryPassword('wrong', { localAddress: `127.0.1.${index + 1}` }),
  );
  let answered = 0;
  for (const attempt of attempts) void attempt.then(() => (answered += 1));
  expect(await tokenStatus(cookie)).toBe(200);
  expect(answered).toBeLessThan(60);
  const answers = await Promise.all(attempts);

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403, 503]));
});

test('who connects from elsewhere and goes at once has set nothing', async () => {
  const { port } = new URL(daemon.url);
  const body = 'password=theirs';
  await new Promise<void>((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1' }, () => {
      socket.write(
        `POST ${daemon.base}/admin/passwd HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        () => socket.destroy(),
      );
    });
    socket.on('close', () => resolve());
  });

  expect((await owner.tryPassword('theirs')).status).toBe(403);
});
