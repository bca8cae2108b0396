import { setImmediate as turn } from 'node:timers/promises';

import { expect, test } from 'vitest';

import type { RpcdSession } from '../../../src/features/login/rpcd.ts';
import { createSessionLookups } from '../../../src/features/login/session-lookups.ts';
import { createLog } from '../../../src/log.ts';

const MINE: RpcdSession = {
  id: 'a'.repeat(32),
  username: 'reader',
  token: 'x',
  mayRead: true,
  mayWrite: false,
};

/** rpcd with one session, and what it was asked. */
function openLookups(session = MINE) {
  const asked: string[] = [];
  let now = 0;
  let listed: RpcdSession | undefined = session;
  const lookups = createSessionLookups({
    rpcd: {
      find: async ({ id }) => {
        asked.push('get');
        return id === session.id ? session : undefined;
      },
      list: async () => {
        asked.push('list');
        return new Map(listed === undefined ? [] : [[listed.id, listed]]);
      },
    },
    log: createLog('silent'),
    now: () => now,
  });
  return {
    lookups,
    asked,
    pass: (ms: number) => (now += ms),
    list: (next: RpcdSession | undefined) => (listed = next),
  };
}

test('a look at a session that is known asks for the list alone, for however long it goes on', async () => {
  const { lookups, asked, pass } = openLookups();
  await lookups.find(MINE.id);
  for (let looks = 0; looks < 1000; looks += 1) {
    pass(1500);
    expect(await lookups.peek(MINE.id)).toEqual(MINE);
    await lookups.find('b'.repeat(32));
  }

  expect(asked.filter((method) => method === 'list')).toHaveLength(1000);
  // One for the session, and one each for the stranger.
  expect(asked.filter((method) => method === 'get')).toHaveLength(1001);
});

test('strangers do not make rpcd write a list', async () => {
  const { lookups, asked } = openLookups();

  expect(await lookups.peek('b'.repeat(32))).toBeUndefined();
  expect(asked).toEqual(['get']);
});

test('what a list leaves out, or grants by a pattern, is asked for by its id', async () => {
  const { lookups, asked, list } = openLookups();
  await lookups.find(MINE.id);
  list(undefined);
  expect(await lookups.peek(MINE.id)).toEqual(MINE);
  list({ ...MINE, mayRead: false });
  expect(await lookups.peek(MINE.id)).toEqual(MINE);

  expect(asked).toEqual(['get', 'list', 'get', 'list', 'get']);
});

test('a session that was forgotten is asked for anew, and an answer under way does not bring it back', async () => {
  const { lookups, asked } = openLookups();
  const underWay = lookups.find(MINE.id);
  lookups.forget(MINE.id);
  await underWay;
  await lookups.find(MINE.id);

  expect(asked).toEqual(['get', 'get']);
});

test('an answer from before a session was forgotten is not kept, though it is asked for again', async () => {
  const answers: ((session: RpcdSession | undefined) => void)[] = [];
  const lookups = createSessionLookups({
    rpcd: {
      find: () => new Promise((resolve) => answers.push(resolve)),
      list: () => Promise.resolve(new Map()),
    },
    log: createLog('silent'),
    now: () => 0,
  });
  const before = lookups.find(MINE.id);
  lookups.forget(MINE.id);
  const after = lookups.find(MINE.id);
  answers[0]?.(MINE);
  await before;

  const next = lookups.find(MINE.id);
  answers[1]?.(undefined);

  expect([await after, await next]).toEqual([undefined, undefined]);
});

test('who asks all the time never waits for rpcd, which takes half a second', async () => {
  let now = 0;
  const asked: { at: number; answer: (session: RpcdSession) => void }[] = [];
  const lookups = createSessionLookups({
    rpcd: {
      find: () => new Promise((answer) => asked.push({ at: now, answer })),
      list: () => Promise.resolve(new Map()),
    },
    log: createLog('silent'),
    now: () => now,
  });
  const first = lookups.find(MINE.id);
  asked[0]?.answer(MINE);
  await first;

  for (; now < 30_000; now += 20) {
    for (const { at, answer } of asked) if (now - at >= 500) answer(MINE);
    await turn();
    expect(await Promise.race([lookups.find(MINE.id), turn('waits')])).toEqual(MINE);
  }
  expect(asked.length).toBeGreaterThan(19);
});
