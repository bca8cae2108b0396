import { expect, test } from 'vitest';

import { isDiskFull } from '../../../src/device/disk/disk-full.ts';
import { DepotError } from '../../../src/errors.ts';

test.each([
  ['ENOSPC', true],
  ['EDQUOT', true],
  ['EROFS', false],
  ['EIO', false],
  [undefined, false],
])('of the system code %s: %s', (code, expected) => {
  expect(isDiskFull(Object.assign(new Error('no'), { code }))).toBe(expected);
});

test('an error that is already told is no disk that is full', () => {
  expect(isDiskFull(new DepotError('no_space', 'cannot go on'))).toBe(false);
  expect(isDiskFull('ENOSPC')).toBe(false);
});
