import { expect, test } from 'vitest';

import { createPasswordSessions } from '../../../src/features/login/password-sessions.ts';

const HOUR_MS = 3_600_000;

function cookie(...ids: readonly string[]): Headers {
  return new Headers({ cookie: ids.map((id) => `depotd_session=${id}`).join('; ') });
}

test('a session ends an hour after it was last used, not after it began', async () => {
  let now = 0;
  const sessions = createPasswordSessions(() => now);
  const id = sessions.begin(new Headers());

  now += HOUR_MS - 1;
  expect(await sessions.find(cookie(id))).toBeDefined();
  now += HOUR_MS - 1;
  expect(await sessions.find(cookie(id))).toBeDefined();
  now += HOUR_MS;
  expect(await sessions.find(cookie(id))).toBeUndefined();
});

test('looking whether a session is still there is no use of it', async () => {
  let now = 0;
  const sessions = createPasswordSessions(() => now);
  const id = sessions.begin(new Headers());

  now += HOUR_MS - 1;
  expect(await sessions.peek(cookie(id))).toBeDefined();
  now += 1;
  expect(await sessions.peek(cookie(id))).toBeUndefined();
});

test('each session has an id and a token of its own', async () => {
  const sessions = createPasswordSessions();
  const ids = [sessions.begin(new Headers()), sessions.begin(new Headers())];
  const tokens = await Promise.all(ids.map(async (id) => (await sessions.find(cookie(id)))?.token));

  expect(new Set([...ids, ...tokens]).size).toBe(4);
  expect([...ids, ...tokens].every((secret) => /^[\w-]{43}$/.test(secret ?? ''))).toBe(true);
});

test('an id that a client made up is no session, not even after a log-in', async () => {
  const sessions = createPasswordSessions();
  const planted = 'p'.repeat(43);
  await sessions.find(cookie(planted));
  sessions.begin(new Headers());

  expect(await sessions.find(cookie(planted))).toBeUndefined();
});

test('a planted cookie beside the right one does not lock out', async () => {
  const sessions = createPasswordSessions();
  const id = sessions.begin(new Headers());

  expect(await sessions.find(cookie('planted', `"${id}"`))).toBeDefined();
});

test('the end of a session ends it, and only it', async () => {
  const sessions = createPasswordSessions();
  const [first, second] = [sessions.begin(new Headers()), sessions.begin(new Headers())];
  sessions.end(cookie(first));

  expect([
    await sessions.find(cookie(first)),
    (await sessions.find(cookie(second))) === undefined,
  ]).toEqual([undefined, false]);
  sessions.endAll();
  expect(await sessions.find(cookie(second))).toBeUndefined();
});

test('of very many sessions those in use stay', async () => {
  const sessions = createPasswordSessions();
  const used = sessions.begin(new Headers());
  const idle = sessions.begin(new Headers());
  for (let index = 0; index < 200; index += 1) {
    sessions.begin(new Headers());
    expect(await sessions.find(cookie(used))).toBeDefined();
  }

  expect(await sessions.find(cookie(idle))).toBeUndefined();
});
