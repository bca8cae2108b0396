import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { runCommand } from '../../device/command.ts';
import type { Answer } from '../../support/ask.ts';
import { sessionIn } from '../../support/session-headers.ts';
import { startPanelDevice, type PanelDevice } from './start-panel-device.ts';

let on: PanelDevice;

beforeAll(async () => {
  on = await startPanelDevice();
});

afterAll(() => on.close());

afterEach(() => on.panel.fail('good'));

test("the device's password gives a cookie for this path alone, which opens the interface", async () => {
  const before = await on.idsNow();

  const answer = await on.logIn();

  expect(answer.status).toBe(204);
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(
      /^depotd_session=[\w-]{43}; Path=\/cgi-bin\/panel; HttpOnly; SameSite=Strict$/,
    ),
  ]);
  expect(await on.statusOf(sessionIn(answer))).toBe(200);
  expect(sessionIn(answer)).not.toContain(await on.newIdSince(before));
});

test('behind TLS the cookie is for TLS alone', async () => {
  const answer = await on.logIn(undefined, { headers: { 'x-forwarded-proto': 'https' } });

  expect(answer.headers['set-cookie']?.[0]).toMatch(/; Secure$/);
});

test('a session is as long as those of LuCI', async () => {
  const lengthOf = async (): Promise<number> => {
    const before = await on.idsNow();
    await on.logIn();
    return (await on.panel.sessions()).get(await on.newIdSince(before)) ?? 0;
  };
  const file = join(on.device.root, 'etc/config/luci');
  const usual = await lengthOf();
  await writeFile(file, "config internal 'sauth'\n\toption sessiontime '1200'\n");
  const configured = await lengthOf();
  await writeFile(file, "config internal 'sauth'\n\toption sessiontime 'long'\n");
  const senseless = await lengthOf();
  await rm(file);
  await runCommand(['mkfifo', file]);
  const withFifo = await lengthOf();
  await rm(file);

  const lengths = [usual, configured, senseless, withFifo];
  expect(lengths.map((seconds) => Math.round(seconds / 100))).toEqual([36, 12, 36, 36]);
});

test('an unknown user and a wrong password get the same answer, and it takes as long', async () => {
  const seconds: number[] = [];
  const answers: Answer[] = [];
  for (const username of ['root', 'nobody', 'plain']) {
    const from = performance.now();
    answers.push(await on.logIn({ username, password: 'wrong' }));
    seconds.push(performance.now() - from);
  }

  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
    new Set(['403 {"code":403,"msg":"cannot log in: the user name or the password is wrong"}']),
  );
  expect(answers.some(({ headers }) => 'set-cookie' in headers)).toBe(false);
  expect(Math.min(...seconds)).toBeGreaterThanOrEqual(490);
});

test.for([
  ['nothing', {}, 400],
  ['a password with NUL', { password: 'labpass\0' }, 400],
  ['an empty password', { password: '' }, 403],
  ['the session of zeros', { session: '0'.repeat(32) }, 403],
  ['an empty session', { session: '' }, 403],
  ['a malformed session', { session: '../../etc/passwd' }, 403],
  ['a session in capital letters', { session: 'A'.repeat(32) }, 403],
  ['an unknown session', { session: '0123456789abcdef0123456789abcdef' }, 403],
] as const)('%s does not log in', async ([, form, status]) => {
  const answer = await on.logIn({ ...form }, { socketPath: on.socketPath });

  expect([answer.status, answer.headers['set-cookie']]).toEqual([status, undefined]);
});

test.for(['password=labpass', 'session=0123456789abcdef0123456789abcdef'])(
  '%s in the query does not log in',
  async (query) => {
    const answer = await on.admin(`login?${query}`, { method: 'POST' });

    expect([answer.status, answer.headers['set-cookie']]).toEqual([400, undefined]);
  },
);

test.for([
  ['another site', { origin: 'https://evil.example' }],
  ['a page without origin', { origin: 'null' }],
  ['a sibling site', { 'sec-fetch-site': 'same-site' }],
  ['another site without Origin', { 'sec-fetch-site': 'cross-site' }],
] as const)('%s can log nobody in', async ([, headers]) => {
  const { id } = await on.panel.logIn();
  const answers = [
    await on.logIn({ password: 'labpass' }, { headers }),
    await on.logIn({ session: id }, { headers }),
    await on.logIn({ session: id, page: '1' }, { headers }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(answers.some(({ headers: given }) => 'set-cookie' in given)).toBe(false);
});

test.for(['gone', 'garbled', 'cut', 'huge'] as const)(
  'with ubus %s a log-in is 503 and does not count as wrong, and nobody is let in',
  async (mode) => {
    const session = sessionIn(await on.logIn());
    on.panel.fail(mode);
    const from = { localAddress: '127.0.7.1' };
    const statuses = new Set<number>();
    for (let index = 0; index < 12; index += 1) {
      statuses.add((await on.logIn({ password: 'labpass' }, from)).status);
    }

    expect(statuses).toEqual(new Set([503]));
    await expect.poll(() => on.statusOf(session), { timeout: 4000 }).toBe(503);
    on.panel.fail('good');
    expect(await on.statusOf(session)).toBe(200);
  },
);

test('ten wrong passwords at once, and the eleventh waits; who is logged in does not', async () => {
  const session = sessionIn(await on.logIn());
  const from = { localAddress: '127.0.7.2' };
  const answers = await Promise.all(
    Array.from({ length: 15 }, () => on.logIn({ password: 'wrong' }, from)),
  );

  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array<number>(10).fill(403),
    ...Array<number>(5).fill(429),
  ]);
  expect((await on.logIn({ password: 'labpass' }, from)).status).toBe(429);
  expect((await on.logIn({ password: 'labpass' }, { ...from, headers: session })).status).toBe(204);
  expect((await on.logIn({ password: 'labpass' }, { socketPath: on.socketPath })).status).toBe(204);
});

test('who logs in is let in while strangers ask with made-up sessions all the time', async () => {
  let isOver = false;
  const ask = async (): Promise<void> => {
    while (!isOver) await on.statusOf({ cookie: `sysauth=${randomBytes(16).toString('hex')}` });
  };
  const strangers = Array.from({ length: 100 }, ask);
  const handedOver = on.panel.logIn();
  const answers = [
    await on.logIn(),
    await on.logIn({ session: (await handedOver).id }),
    await on.logIn(),
  ];

  const statuses = await Promise.all(answers.map((answer) => on.statusOf(sessionIn(answer))));

  isOver = true;
  await Promise.all(strangers);
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
  expect(statuses).toEqual([200, 200, 200]);
});

test('a browser without scripts gets pages: the next one, or the form with what was wrong', async () => {
  const page = await on.admin('login');
  const good = await on.logIn(
    { username: 'root', password: 'labpass', page: '1' },
    { socketPath: on.socketPath },
  );
  const wrong = await on.logIn(
    { username: '"><b>x', password: 'wrong', page: '1' },
    { socketPath: on.socketPath },
  );

  expect(page.text).toContain('<input id="username" name="username" value="root"');
  expect(page.headers['referrer-policy']).toBe('same-origin');
  expect([good.status, good.headers.location]).toEqual([
    303,
    `../#key=${String(good.headers['x-depotd-key'])}`,
  ]);
  expect(await on.statusOf(sessionIn(good))).toBe(200);
  expect(wrong.status).toBe(403);
  expect(wrong.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(wrong.text).toContain('the user name or the password is wrong');
  expect(wrong.text).not.toContain('"><b>x');
});

test('no password, session id or token reaches the log or a command line', async () => {
  const before = await on.idsNow();
  const session = sessionIn(await on.logIn(undefined, { socketPath: on.socketPath }));
  const token = await on.tokenOf(session);
  await on.logIn(
    { username: 's3cret-user', password: 's3cret-wrong' },
    { socketPath: on.socketPath },
  );
  await on.daemon.logged('wrong password');

  const log = on.daemon.log.join('\n');
  const secrets = [
    'labpass',
    's3cret',
    session['x-depotd-key'],
    session.cookie.slice(-43),
    token,
    await on.newIdSince(before),
  ];
  expect(secrets.map((secret) => log.includes(secret))).toEqual(secrets.map(() => false));
});
