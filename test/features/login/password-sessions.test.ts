import { expect, test } from 'vitest';

import type { NewSession } from '../../../src/features/login/session-cookie.ts';
import { createPasswordSessions } from '../../../src/features/login/password-sessions.ts';

const HOUR_MS = 3_600_000;

/** What a request carries. @param planted further cookies of the name, before the right one */
function both({ id, key }: NewSession, ...planted: readonly string[]): Headers {
  const cookie = [...planted, id].map((value) => `depotd_session=${value}`).join('; ');
  return new Headers({ cookie, 'x-depotd-key': key });
}

test('a session ends an hour after it was last used, not after it began', async () => {
  let now = 0;
  const sessions = createPasswordSessions(() => now);
  const session = sessions.begin(new Headers());

  now += HOUR_MS - 1;
  expect(await sessions.find(both(session))).toBeDefined();
  now += HOUR_MS - 1;
  expect(await sessions.find(both(session))).toBeDefined();
  now += HOUR_MS;
  expect(await sessions.find(both(session))).toBeUndefined();
});

test('looking whether a session is still there is no use of it', async () => {
  let now = 0;
  const sessions = createPasswordSessions(() => now);
  const session = sessions.begin(new Headers());

  now += HOUR_MS - 1;
  expect(await sessions.peek(both(session))).toBeDefined();
  now += 1;
  expect(await sessions.peek(both(session))).toBeUndefined();
});

test('each session has two halves and a token of its own', async () => {
  const sessions = createPasswordSessions();
  const begun = [sessions.begin(new Headers()), sessions.begin(new Headers())];
  const tokens = await Promise.all(
    begun.map(async (session) => (await sessions.find(both(session)))?.token),
  );
  const secrets = [...begun.flatMap(({ id, key }) => [id, key]), ...tokens];

  expect(new Set(secrets).size).toBe(6);
  expect(secrets.every((secret) => /^[\w-]{43}$/.test(secret ?? ''))).toBe(true);
});

test('an id that a client made up is no session, not even after a log-in', async () => {
  const sessions = createPasswordSessions();
  const planted = { id: 'p'.repeat(43), key: 'k'.repeat(43) };
  await sessions.find(both(planted));
  const { key } = sessions.begin(new Headers());

  expect(await sessions.find(both(planted))).toBeUndefined();
  expect(await sessions.find(both({ ...planted, key }))).toBeUndefined();
});

test('cookies that a neighbour planted before the right one do not lock out, however many', async () => {
  const sessions = createPasswordSessions();
  const { id, key } = sessions.begin(new Headers());
  const planted = Array.from({ length: 100 }, (_, index) => `planted${index}`);

  expect(await sessions.find(both({ id: `"${id}"`, key }, ...planted))).toBeDefined();
});

test('one half of a session is none, nor are halves of two', async () => {
  const sessions = createPasswordSessions();
  const [one, other] = [sessions.begin(new Headers()), sessions.begin(new Headers())];
  const halves = [
    new Headers({ cookie: `depotd_session=${one.id}` }),
    new Headers({ 'x-depotd-key': one.key }),
    both({ id: one.id, key: other.key }),
    both({ id: one.key, key: one.id }),
  ];

  for (const headers of halves) expect(await sessions.find(headers)).toBeUndefined();
  expect(await sessions.find(both(one))).toBeDefined();
});

test('a server that hands on few fields brings the key in Accept', async () => {
  const sessions = createPasswordSessions();
  const { id, key } = sessions.begin(new Headers());
  const accept = `*/*;depotd-key=${key}`;

  expect(
    await sessions.find(new Headers({ cookie: `depotd_session=${id}`, accept })),
  ).toBeDefined();
});

test('the end of a session ends it, and only it', async () => {
  const sessions = createPasswordSessions();
  const [first, second] = [sessions.begin(new Headers()), sessions.begin(new Headers())];
  sessions.end(both(first));

  expect([
    await sessions.find(both(first)),
    (await sessions.find(both(second))) === undefined,
  ]).toEqual([undefined, false]);
  sessions.endAll();
  expect(await sessions.find(both(second))).toBeUndefined();
});

test('of very many sessions those in use stay', async () => {
  const sessions = createPasswordSessions();
  const used = sessions.begin(new Headers());
  const idle = sessions.begin(new Headers());
  for (let index = 0; index < 200; index += 1) {
    sessions.begin(new Headers());
    expect(await sessions.find(both(used))).toBeDefined();
  }

  expect(await sessions.find(both(idle))).toBeUndefined();
});
