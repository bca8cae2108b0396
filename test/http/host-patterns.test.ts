import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { HOST_PATTERN, PORT_PATTERN } from '../../src/http/host-patterns.ts';

const HOST = new RegExp(`^${HOST_PATTERN}$`, 'u');
const PORT = new RegExp(`^${PORT_PATTERN}$`, 'u');

const LABEL = /^(?!-)[A-Za-z0-9_-]{1,63}(?<!-)$/;

/** RFC 1123, section 2.1; what ends in a number is an IPv4 address or nothing. */
function isHost(text: string): boolean {
  const bracketed = /^\[([0-9A-Fa-f:.]+)\]$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIPv6(bracketed);
  const labels = text.split('.');
  if (/^\d+$/.test(labels.at(-1) ?? '')) return isIPv4(text);
  return labels.every((label) => LABEL.test(label));
}

test('the pattern of hosts lets names and addresses through, and nothing else', () => {
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
      const isGood = isHost(text);
      if (isGood) accepted += 1;
      else refused += 1;
      expect([text, HOST.test(text)]).toEqual([text, isGood]);
    }),
    { numRuns: 5000 },
  );
  expect(Math.min(accepted, refused)).toBeGreaterThan(500);
});

test('a label is 63 characters at most, and the last one is no number', () => {
  const [fits, tooLong] = ['a'.repeat(63), 'a'.repeat(64)];
  expect(HOST.test(`${fits}.${fits}`)).toBe(true);
  expect(HOST.test(`${tooLong}.lan`)).toBe(false);
  expect(HOST.test(tooLong)).toBe(false);
  expect(HOST.test('nas.1')).toBe(false);
  for (const digits of [1, 29, 30]) {
    const begins = '1'.repeat(digits);
    expect(HOST.test(`${begins}${'a'.repeat(33)}`)).toBe(true);
    expect(HOST.test(`${begins}-${'a'.repeat(32)}`)).toBe(true);
    expect(HOST.test(`${begins}${'a'.repeat(64 - digits)}`)).toBe(false);
  }
});

test('a port is a number up to 65535', () => {
  for (const port of [0, 1, 80, 9999, 10_000, 59_999, 64_999, 65_499, 65_529, 65_535]) {
    expect([port, PORT.test(`${port}`)]).toEqual([port, true]);
  }
  for (const port of ['', 65_536, 65_540, 65_600, 66_000, 70_000, 100_000, '-1', '8o']) {
    expect([port, PORT.test(`${port}`)]).toEqual([port, false]);
  }
});
