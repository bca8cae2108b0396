import { expect, test } from 'vitest';

import { isLoopback } from '../../src/config/ip-address.ts';

test.each([
  ['127.0.0.1', true],
  ['127.255.255.254', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['::FFFF:127.1.2.3', true],
  ['128.0.0.1', false],
  ['127.0.0.1.example.org', false],
  ['127.0.0.999', false],
  ['::ffff:192.0.2.1', false],
  ['::2', false],
  ['fe80::1', false],
  ['', false],
  // A connection that has gone.
  [undefined, false],
])('%s is an address of this host alone: %s', (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});
