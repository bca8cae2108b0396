import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';

import { sessionIn } from '../../support/session-headers.ts';
import { startPasswordDaemon, type PasswordDaemon } from './password-daemon.ts';

let daemon: PasswordDaemon['daemon'];
let owner: PasswordDaemon['owner'];
let socketPath: PasswordDaemon['socketPath'];
let setCheapPassword: PasswordDaemon['setCheapPassword'];
let admin: PasswordDaemon['admin'];
let tokenStatus: PasswordDaemon['tokenStatus'];
let forgetPassword: PasswordDaemon['forgetPassword'];
let close: PasswordDaemon['close'];

beforeAll(async () => {
  ({ daemon, owner, socketPath, setCheapPassword, admin, tokenStatus, forgetPassword, close } =
    await startPasswordDaemon());
});

afterEach(() => forgetPassword());
afterAll(() => close());

test('a log-in gives a cookie that scripts and other sites do not get, and opens the doors', async () => {
  await owner.setFirstPassword('secret');
  const answer = await owner.tryPassword('secret');

  expect(answer.status).toBe(204);
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^depotd_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
  expect(await tokenStatus(sessionIn(answer))).toBe(200);
});

test('behind TLS the cookie is for TLS alone, and only a proxy on this host is believed', async () => {
  await setCheapPassword('secret');
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
  await setCheapPassword('secret');
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

test('a password in the query counts for nothing', async () => {
  await setCheapPassword('secret');
  const answers = [
    await admin('login?password=secret', { method: 'POST' }),
    await admin('login?password=secret', { method: 'POST', form: { password: 'secret' } }),
    await admin('passwd?old=secret', { method: 'POST', form: { password: 'new' } }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
});

test('a log-out needs the token, ends the session and takes the cookie back', async () => {
  await setCheapPassword('secret');
  const { session, token } = await owner.logIn('secret');

  expect((await admin('logout', { method: 'POST', headers: session })).status).toBe(403);
  expect(await tokenStatus(session)).toBe(200);
  const answer = await admin('logout', { method: 'POST', headers: session, form: { token } });
  expect([answer.status, answer.headers['set-cookie']]).toEqual([
    204,
    ['depotd_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0'],
  ]);
  expect(await tokenStatus(session)).toBe(403);
});

test('a log-in never takes up the id that the browser came with, and ends that session', async () => {
  await setCheapPassword('secret');
  const { session: earlier } = await owner.logIn('secret');
  const planted = 'p'.repeat(43);
  const answer = await owner.tryPassword('secret', {
    headers: { cookie: `depotd_session=${planted}; ${earlier.cookie}` },
  });

  expect(answer.headers['set-cookie']?.[0]).not.toContain(planted);
  expect([
    await tokenStatus({ ...earlier, cookie: `depotd_session=${planted}` }),
    await tokenStatus(earlier),
  ]).toEqual([403, 403]);
});

test.for([
  ['another site', { origin: 'https://evil.example' }],
  ['a page without origin', { origin: 'null' }],
  ['a sibling site', { 'sec-fetch-site': 'same-site' }],
  ['another site without Origin', { 'sec-fetch-site': 'cross-site' }],
] as const)('%s can log nobody in or out and set no password', async ([, headers]) => {
  const first = await owner.setPassword('theirs', undefined, { headers });
  await setCheapPassword('secret');
  const { session, token } = await owner.logIn('secret');
  const others = [
    await owner.tryPassword('secret', { headers }),
    await admin('logout', { method: 'POST', headers: { ...headers, ...session }, form: { token } }),
    await owner.setPassword('theirs', 'secret', { headers }),
  ];

  expect([first, ...others].map(({ status }) => status)).toEqual([403, 403, 403, 403]);
});

test('a new password needs the old one and ends all sessions', async () => {
  await setCheapPassword('secret');
  const { session, token } = await owner.logIn('secret');

  expect((await owner.setPassword('new')).status).toBe(403);
  expect((await owner.setPassword('new', 'wrong')).status).toBe(403);
  expect(
    (
      await admin('passwd', {
        method: 'POST',
        headers: session,
        form: { token, password: 'new' },
      })
    ).status,
  ).toBe(403);
  expect((await owner.setPassword('new', 'secret')).status).toBe(204);
  expect(await tokenStatus(session)).toBe(403);
  expect([
    (await owner.tryPassword('secret')).status,
    (await owner.tryPassword('new')).status,
  ]).toEqual([403, 204]);
});

test('sessions outlive the reading of the configuration', async () => {
  await setCheapPassword('secret');
  const { session } = await owner.logIn('secret');
  process.kill(daemon.pid, 'SIGHUP');
  await daemon.logged('configuration read again');

  expect(await tokenStatus(session)).toBe(200);
});

test('no password, session id or token reaches the log', async () => {
  // Its log has no wrong password of another test.
  const on = await startPasswordDaemon();
  onTestFinished(() => on.close());
  await on.owner.setFirstPassword('s3cret-first');
  const { session, token } = await on.owner.logIn('s3cret-first');
  await on.owner.tryPassword('s3cret-wrong');
  await on.daemon.logged('wrong password');

  const log = on.daemon.log.join('\n');
  expect(
    ['s3cret', session['x-depotd-key'], session.cookie.slice(-43), token].map((secret) =>
      log.includes(secret),
    ),
  ).toEqual([false, false, false, false]);
});

test('the log-in page needs nothing from elsewhere and only this device may frame it', async () => {
  const page = await admin('login');

  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; .*frame-ancestors 'self'$/,
  );
  expect(page.text).not.toMatch(/https?:/);
});
