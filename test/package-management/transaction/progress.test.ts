import { expect, test } from 'vitest';

import {
  createExpectedChanges,
  createPercentReader,
} from '../../../src/package-management/transaction/progress.ts';

const MIB = 1024 ** 2;
const change = (name: string, downloadBytes: number) =>
  ({
    action: 'install',
    name,
    version: '1',
    reason: 'asked',
    downloadBytes,
    diskBytes: 0,
  }) as const;

test('how far a change is goes by the bytes of its packages, as its preview named them', () => {
  const expected = createExpectedChanges();
  expected.keep(['app'], [change('app', MIB), change('lib', 3 * MIB)]);
  const read = createPercentReader();
  const percentOf = (tail: string): number | undefined => read(tail, expected.find(['app']));

  expect(percentOf('Downloading http://feed/lib.ipk\n')).toBe(0);
  expect(percentOf('Installing lib (1) to root...\n')).toBe(56);
  expect(percentOf('Installing app (1) to root...\nConfiguring lib.\n')).toBe(93);
  expect(percentOf('a line of a script\n')).toBe(93);
  expect(percentOf('Configuring app.\n')).toBe(100);
});

test('without a preview only a manager that counts its packages says how far it is', () => {
  const read = createPercentReader();

  expect(createExpectedChanges().find(['app'])).toBeUndefined();
  expect(read('Installing app (1) to root...\n', undefined)).toBeUndefined();
  expect(read('(3/4) Installing app (1)\n', undefined)).toBe(50);
});
