import { expect, test } from 'vitest';

import { createAttemptLimit } from '../../../src/features/login/attempt-limit.ts';

test('ten wrong attempts pass and the eleventh waits until the first is a minute old', () => {
  let now = 0;
  const limit = createAttemptLimit(() => now);
  const passed = Array.from({ length: 10 }, () => limit.begin('192.0.2.1'));
  now = 20_000;

  expect(passed).toEqual(Array(10).fill(0));
  expect(limit.begin('192.0.2.1')).toBe(40);
  now = 59_999;
  expect(limit.begin('192.0.2.1')).toBe(1);
  now = 60_000;
  expect(limit.begin('192.0.2.1')).toBe(0);
});

test('attempts that turn out right do not count, refused ones neither', () => {
  let now = 0;
  const limit = createAttemptLimit(() => now);
  for (let index = 0; index < 50; index += 1) {
    expect(limit.begin('192.0.2.1')).toBe(0);
    limit.forgive('192.0.2.1');
  }
  for (let index = 0; index < 50; index += 1) limit.begin('192.0.2.1');
  now = 60_000;

  expect(limit.begin('192.0.2.1')).toBe(0);
});

test('a right attempt does not wash away the wrong ones before it', () => {
  const limit = createAttemptLimit(() => 0);
  for (let index = 0; index < 9; index += 1) limit.begin('192.0.2.1');
  limit.begin('192.0.2.1');
  limit.forgive('192.0.2.1');

  expect([limit.begin('192.0.2.1'), limit.begin('192.0.2.1')]).toEqual([0, 60]);
});

test('another address is not held to it', () => {
  const limit = createAttemptLimit(() => 0);
  for (let index = 0; index < 10; index += 1) limit.begin('192.0.2.1');

  expect([limit.begin('192.0.2.1'), limit.begin('192.0.2.2')]).toEqual([60, 0]);
});
