import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { ask, type Answer } from '../../support/ask.ts';
import { startPanelDevice, type PanelDevice } from './start-panel-device.ts';

let panel: PanelDevice['panel'];
let daemon: PanelDevice['daemon'];
let close: PanelDevice['close'];

beforeAll(async () => {
  ({ panel, daemon, close } = await startPanelDevice());
});

afterAll(() => close());

afterEach(() => panel.fail('good'));

function token(cookie?: string): Promise<Answer> {
  return ask(`${daemon.url}${daemon.base}/admin/store/token`, {
    headers: cookie === undefined ? {} : { cookie },
  });
}

test.for(['sysauth_http', 'sysauth_https', 'sysauth'])(
  "a session in the cookie %s gives the panel's token",
  async (name) => {
    const login = await panel.logIn();

    const answer = await token(`lang=en; ${name}=${login.id}; other=1`);

    expect([answer.status, answer.text]).toEqual([200, JSON.stringify({ token: login.token })]);
  },
);

test('no cookie gets 403, the log-in header and a JSON body', async () => {
  const answer = await token();

  expect(answer.status).toBe(403);
  expect(answer.headers['x-luci-login-required']).toBe('yes');
  expect(JSON.parse(answer.text)).toEqual({ code: 403, msg: 'cannot answer without a log-in' });
});

test('sessions that nobody is logged in to get 403', async () => {
  const ids = [
    '0'.repeat(32),
    await panel.create(),
    await panel.logInWithoutToken(),
    '0123456789abcdef0123456789abcdef',
  ];

  const answers = await Promise.all(ids.map((id) => token(`sysauth_http=${id}`)));

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
});

test.for([
  ['nothing', ''],
  ['an option', '--help'],
  ['shell characters', '$(touch${IFS}/tmp/x)`id`'],
  ['quotes', `"},"x":{"`],
  ['a path', '../../../etc/passwd'],
  ['31 digits', 'a'.repeat(31)],
  ['33 digits', 'a'.repeat(33)],
  ['capital letters', 'A'.repeat(32)],
  ['something encoded', '%61'.repeat(32)],
  ['a great many', 'a'.repeat(12_000)],
])('an id that is %s is refused and ubus never asked', async ([, id]) => {
  const before = panel.calls();

  const answer = await token(`sysauth_http=${id ?? ''}`);

  expect(answer.status).toBe(403);
  expect(panel.calls()).toEqual(before);
});

test("root's rights are not asked for, and those of others are", async () => {
  const [root, reader] = [await panel.logIn(), await panel.logIn(300, 'reader')];
  const from = panel.calls().length;

  await token(`sysauth_http=${root.id}`);
  await token(`sysauth_http=${reader.id}`);

  expect(panel.calls().slice(from)).toEqual(['get', 'get', 'access', 'access']);
});

test('a cookie in quotes, twice, or beside a stale one is found', async () => {
  const { id } = await panel.logIn();
  const stale = 'f'.repeat(32);

  const cookies = [
    `sysauth_http="${id}"`,
    `sysauth_http=${stale}; sysauth_http=${id}`,
    `sysauth_https=${stale};sysauth_http=${id}`,
    `=; ;;sysauth_http = ${id};`,
  ];
  const answers = await Promise.all(cookies.map((cookie) => token(cookie)));

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

test('one request with many foreign cookies asks ubus four times at most', async () => {
  const before = panel.calls().length;

  const cookies = Array.from(
    { length: 200 },
    (_, index) => `sysauth=${String(index).padStart(32, '0').replace(/^0/, 'e')}`,
  );
  const answer = await token(cookies.join('; '));

  expect(answer.status).toBe(403);
  expect(panel.calls().length - before).toBeLessThanOrEqual(4);
});

test('a log-out counts after two seconds at most, however often one asks', async () => {
  const { id } = await panel.logIn();
  const cookie = `sysauth_http=${id}`;
  await token(cookie);
  await panel.logOut(id);
  const from = performance.now();
  for (let askedAt = from; (await token(cookie)).status === 200; askedAt = performance.now()) {
    expect(askedAt - from).toBeLessThan(2000);
  }

  expect((await token(cookie)).status).toBe(403);
});

test('a hundred requests at once ask ubus once', async () => {
  const { id } = await panel.logIn();
  const before = panel.calls().length;

  const answers = await Promise.all(Array.from({ length: 100 }, () => token(`sysauth_http=${id}`)));

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(panel.calls().length - before).toBeLessThanOrEqual(2);
});

test('asking keeps a session alive that would end of idleness', async () => {
  const { id } = await panel.logIn(3);
  const from = performance.now();
  while (performance.now() - from < 5000) {
    expect((await token(`sysauth_http=${id}`)).status).toBe(200);
    await delay(500);
  }
  await delay(4000);

  expect((await token(`sysauth_http=${id}`)).status).toBe(403);
});

test.for(['gone', 'garbled', 'huge', 'cut', 'stuck'] as const)(
  'with ubus %s the answer is 503, without waiting for its end, and no door opens',
  async (mode) => {
    const { id } = await panel.logIn();
    panel.fail(mode);
    const from = performance.now();

    const answer = await token(`sysauth_http=${id}`);

    expect([answer.status, answer.headers['x-luci-login-required']]).toEqual([503, undefined]);
    expect(answer.text).not.toContain(id);
    expect(performance.now() - from).toBeLessThan(15_000);
    panel.fail('good');
    expect((await token(`sysauth_http=${id}`)).status).toBe(200);
  },
);

test('with ubusd gone, no cookie still gets 403 and open paths answer', async () => {
  panel.fail('gone');

  expect((await token()).status).toBe(403);
  expect((await ask(`${daemon.url}/healthz`)).status).toBe(200);
});

test('no session id and no token reaches the log', async () => {
  const login = await panel.logIn();
  await token(`sysauth_http=${login.id}`);
  panel.fail('gone');
  await token(`sysauth_http=${'b'.repeat(32)}`);
  await daemon.logged('panel cannot be asked');

  const log = daemon.log.join('\n');
  expect([log.includes(login.id), log.includes('b'.repeat(32)), log.includes(login.token)]).toEqual(
    [false, false, false],
  );
});
