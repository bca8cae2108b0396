import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';

import { hostname } from '../../../src/features/app-status/hostname.ts';
import {
  HOSTNAME_PATTERN,
  PACKAGE_NAMES_PATTERN,
} from '../../../src/features/app-status/parameter-patterns.ts';

const PUBLISHED = new RegExp(HOSTNAME_PATTERN, 'u');

test('the pattern of host names says what is accepted, up to the length of the last label', () => {
  const addresses = fc.oneof(
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
    fc
      .array(fc.constantFrom(':', '::', 'a', 'F0', '12345', '1.2.3.4', '[', ']'), { maxLength: 16 })
      .map((words) => `[${words.join('')}]`),
    fc
      .array(fc.constantFrom('.', '-', '_', 'a', '1', '255', '256', '01', 'é'), { maxLength: 12 })
      .map((words) => words.join('')),
  );
  let [accepted, refused] = [0, 0];
  fc.assert(
    fc.property(addresses, (text) => {
      const isAccepted = v.is(hostname, text.toLowerCase()) && text.length <= 253;
      if (isAccepted) accepted += 1;
      else refused += 1;
      expect([text, PUBLISHED.test(text)]).toEqual([text, isAccepted]);
    }),
    { numRuns: 5000 },
  );
  expect(Math.min(accepted, refused)).toBeGreaterThan(500);
});

test('a label is 63 characters at most, and the last one is no number', () => {
  const [fits, tooLong] = ['a'.repeat(63), 'a'.repeat(64)];
  expect(PUBLISHED.test(`${fits}.${fits}`)).toBe(true);
  expect(PUBLISHED.test(`${tooLong}.lan`)).toBe(false);
  expect(PUBLISHED.test(tooLong)).toBe(false);
  expect(PUBLISHED.test('nas.1')).toBe(false);
  expect(PUBLISHED.test(`${'1'.repeat(62)}a`)).toBe(true);
});

test.each([
  ['', true],
  ['a', true],
  ['a,b+c', true],
  ['a,', false],
  ['a, b', false],
  ['-a', false],
  ['a'.repeat(129), false],
])('the names %j are published as good: %s', (names, isGood) => {
  expect(new RegExp(PACKAGE_NAMES_PATTERN, 'u').test(names)).toBe(isGood);
});
