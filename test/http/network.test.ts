import { expect, test } from 'vitest';

import { networkOf } from '../../src/http/network.ts';

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
] as const)('%s counts as %s', ([address, network]) => {
  expect(networkOf(address)).toBe(network);
});

test('the addresses of one IPv6 site are those of its /48', () => {
  expect([networkOf('2001:db8:7:1::9', 48), networkOf('192.0.2.1', 48)]).toEqual([
    '2001:db8:7::/48',
    '192.0.2.1',
  ]);
});
