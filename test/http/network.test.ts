import fc from 'fast-check';
import { expect, test } from 'vitest';

import { networkOf } from '../../src/http/network.ts';
import { addressWords, dotted, isMapped, spellingOf, type Words } from './address-spellings.ts';

test.for([
  ['192.0.2.1', '192.0.2.1'],
  ['unix', 'unix'],
  ['2001:db8:0:1:a:b:c:d', '2001:db8:0:1::/64'],
  ['2001:DB8:0:1::9', '2001:db8:0:1::/64'],
  ['2001:db8:0:2::9', '2001:db8:0:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%br-lan', 'fe80:0:0:0::/64'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:0201', '192.0.2.1'],
  ['0:0:0:0:0:FFFF:C000:201', '192.0.2.1'],
  ['2001:db8::3:4:5:192.0.2.1', '2001:db8:0:3::/64'],
] as const)('%s counts as %s', ([address, network]) => {
  expect(networkOf(address)).toBe(network);
});

test('the addresses of one IPv6 site are those of its /48', () => {
  expect([networkOf('2001:db8:7:1::9', 48), networkOf('192.0.2.1', 48)]).toEqual([
    '2001:db8:7::/48',
    '192.0.2.1',
  ]);
});

/** Addresses with the same text are one network. */
function modelOf(words: Words, bits: 64 | 48): string {
  return isMapped(words) ? dotted(words) : words.slice(0, bits / 16).join();
}

test('every spelling of an address counts as the same network, and no other', () => {
  const pair = fc
    .tuple(addressWords, addressWords, fc.boolean())
    .chain(([words, stranger, isOne]) =>
      fc.tuple(
        fc.constant([words, isOne ? words : stranger] as const),
        spellingOf(words),
        spellingOf(isOne ? words : stranger),
      ),
    );
  fc.assert(
    fc.property(pair, fc.constantFrom<64 | 48>(64, 48), ([[words, others], one, other], bits) => {
      const isSame = modelOf(words, bits) === modelOf(others, bits);
      expect(networkOf(one, bits) === networkOf(other, bits)).toBe(isSame);
    }),
    { numRuns: 2000 },
  );
});
