import fc from 'fast-check';
import { isIPv6 } from 'node:net';
import { expect, test } from 'vitest';

import { canonicalAddress } from '../../src/config/ip-address.ts';
import { addressWords, dotted, isMapped, spellingOf } from '../http/address-spellings.ts';

test('every spelling of an address becomes one text, and that is the same address', () => {
  const twice = addressWords.chain((words) =>
    fc.tuple(fc.constant(words), spellingOf(words), spellingOf(words)),
  );
  fc.assert(
    fc.property(twice, ([words, one, other]) => {
      const text = canonicalAddress(one);
      expect(canonicalAddress(other)).toBe(text);
      expect(canonicalAddress(text)).toBe(text);
      if (isMapped(words)) expect(text).toBe(dotted(words));
      else expect(isIPv6(text)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

// The examples of RFC 5952, sections 1 and 4.
test.each([
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:0db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:db8::1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:DB8:0:0:1::1', '2001:db8::1:0:0:1'],
  ['2001:db8:aaaa:bbbb:cccc:dddd:0:1', '2001:db8:aaaa:bbbb:cccc:dddd:0:1'],
  ['2001:db8::1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['::ffff:c0a8:0101', '192.168.1.1'],
  ['::ffff:192.168.1.1', '192.168.1.1'],
  ['0:0:0:0:0:FFFF:192.168.1.1', '192.168.1.1'],
  ['::ffff:0:c0a8:101', '::ffff:0:c0a8:101'],
  ['::c0a8:101', '::c0a8:101'],
  ['fe80::0001%br-lan', 'fe80::1%br-lan'],
  ['::ffff:c0a8:101%br-lan', '192.168.1.1'],
  ['::ffff:999.1.1.1', '::ffff:999.1.1.1'],
  ['192.168.1.1', '192.168.1.1'],
  ['unix', 'unix'],
])('%s is written %s', (spelling, text) => {
  expect(canonicalAddress(spelling)).toBe(text);
});
