import { expect, test } from 'vitest';

import { isShortage } from '../../src/device/shortage.ts';

test('what waits for processes does not wait for whoever has a lease on a file', () => {
  const failed = (syscall: string): Error =>
    Object.assign(new Error(`EAGAIN: resource temporarily unavailable, ${syscall}`), {
      code: 'EAGAIN',
      syscall,
    });

  expect(isShortage(new Error('cannot start opkg', { cause: failed('spawn opkg') }))).toBe(true);
  expect(isShortage(failed('open'))).toBe(false);
});
