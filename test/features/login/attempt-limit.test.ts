import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createAttemptLimit, type Limits } from '../../../src/features/login/attempt-limit.ts';

const STRANGER: Limits = [{ key: '192.0.2.1', most: 10 }];

test('ten wrong attempts pass and the eleventh waits until the first is a minute old', () => {
  let now = 0;
  const limit = createAttemptLimit(() => now);
  const passed = Array.from({ length: 10 }, () => limit.begin(STRANGER));
  now = 20_000;

  expect(passed).toEqual(Array(10).fill(0));
  expect(limit.begin(STRANGER)).toBe(40);
  now = 59_999;
  expect(limit.begin(STRANGER)).toBe(1);
  now = 60_000;
  expect(limit.begin(STRANGER)).toBe(0);
});

test('attempts that turn out right do not count, refused ones neither', () => {
  let now = 0;
  const limit = createAttemptLimit(() => now);
  for (let index = 0; index < 50; index += 1) {
    expect(limit.begin(STRANGER)).toBe(0);
    limit.forgive(STRANGER);
  }
  for (let index = 0; index < 50; index += 1) limit.begin(STRANGER);
  now = 60_000;

  expect(limit.begin(STRANGER)).toBe(0);
});

test('a right attempt does not wash away the wrong ones before it', () => {
  const limit = createAttemptLimit(() => 0);
  for (let index = 0; index < 9; index += 1) limit.begin(STRANGER);
  limit.begin(STRANGER);
  limit.forgive(STRANGER);

  expect([limit.begin(STRANGER), limit.begin(STRANGER)]).toEqual([0, 60]);
});

test('another address is not held to it', () => {
  const limit = createAttemptLimit(() => 0);
  for (let index = 0; index < 10; index += 1) limit.begin(STRANGER);

  expect([limit.begin(STRANGER), limit.begin([{ key: '192.0.2.2', most: 10 }])]).toEqual([60, 0]);
});

test('many clients that one user names are held to a limit of their own', () => {
  const limit = createAttemptLimit(() => 0);
  const client = (name: string): Limits => [
    { key: name, most: 10 },
    { key: 'all', most: 30 },
  ];
  const passed = Array.from({ length: 100 }, (_, index) => limit.begin(client(`forged ${index}`)));

  expect(passed.filter((waitS) => waitS === 0)).toHaveLength(30);
});

test('who has once logged in from there is not held to what others do', () => {
  const limit = createAttemptLimit(() => 0);
  const owner: Limits = [
    { key: 'owner', most: 10 },
    { key: 'all', most: 30 },
  ];
  limit.begin(owner);
  limit.forgive(owner);
  for (let index = 0; index < 100; index += 1) {
    limit.begin([
      { key: `forged ${index}`, most: 10 },
      { key: 'all', most: 30 },
    ]);
  }
  const passed = Array.from({ length: 20 }, () => limit.begin(owner));

  expect(passed.filter((waitS) => waitS === 0)).toHaveLength(10);
});

test('an attempt that could not be judged does not count', () => {
  const limit = createAttemptLimit(() => 0);
  for (let index = 0; index < 50; index += 1) {
    expect(limit.begin(STRANGER)).toBe(0);
    limit.cancel(STRANGER);
  }
});

test('nine thousand other addresses do not have a client that waits forgotten', () => {
  const limit = createAttemptLimit(() => 0);
  for (let index = 0; index < 10; index += 1) limit.begin(STRANGER);
  const others = Array.from({ length: 9000 }, (_, index): Limits => [
    { key: `other ${index}`, most: 10 },
  ]);

  expect(others.map((other) => limit.begin(other)).filter((waitS) => waitS > 0)).toEqual([]);
  expect(limit.begin(STRANGER)).toBe(60);
});

test('of more clients than there are counters none has more guesses than its limit', () => {
  const attempts = fc.array(fc.record({ client: fc.nat(11), afterMs: fc.nat(9000) }), {
    minLength: 50,
    maxLength: 400,
  });
  fc.assert(
    fc.property(attempts, (made) => {
      let now = 0;
      const limit = createAttemptLimit(() => now, 4);
      const passed = new Map<number, number[]>();
      for (const { client, afterMs } of made) {
        now += Math.floor(afterMs / 40);
        if (limit.begin([{ key: `client ${client}`, most: 3 }]) > 0) continue;
        const times = [...(passed.get(client) ?? []), now];
        passed.set(client, times);
        expect(times.filter((at) => now - at < 60_000).length).toBeLessThanOrEqual(3);
      }
    }),
  );
});

test('those who share counters are held to them for a minute, and no longer', () => {
  let now = 0;
  const limit = createAttemptLimit(() => now, 4);
  const client = (index: number): Limits => [{ key: `client ${index}`, most: 10 }];
  const passed = Array.from({ length: 500 }, (_, index) => limit.begin(client(index % 100)));

  expect(passed.filter((waitS) => waitS === 0)).toHaveLength(40);
  now = 60_000;
  expect(limit.begin(client(7))).toBe(0);
});

test('an attempt that is taken back takes back none of those whose counter it got', () => {
  const limit = createAttemptLimit(() => 0, 1);
  for (let index = 0; index < 10; index += 1) {
    const client: Limits = [{ key: `client ${index}`, most: 11 }];
    limit.begin(client);
    limit.begin(client);
    limit.cancel(client);
  }
  limit.cancel([{ key: 'client 0', most: 11 }]);

  expect(limit.begin([{ key: 'client 0', most: 10 }])).toBe(60);
  expect(limit.begin([{ key: 'client 0', most: 11 }])).toBe(0);
});
