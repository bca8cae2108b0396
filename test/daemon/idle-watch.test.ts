import { afterEach, expect, test, vi } from 'vitest';

import { createIdleExit } from '../../src/idle-exit.ts';

afterEach(() => void vi.useRealTimers());

test('a daemon that is ended while it asks to be ended does not ask again, however long its end takes', async () => {
  vi.useFakeTimers();
  let answer = (): void => undefined;
  const end = vi.fn(() => new Promise<void>((resolve) => (answer = resolve)));
  const idle = createIdleExit({ minutes: () => 1, isNeeded: () => false, end });
  idle.watch();
  await vi.advanceTimersByTimeAsync(61_000);
  expect(end).toHaveBeenCalledTimes(1);

  idle.close();
  answer();
  await vi.advanceTimersByTimeAsync(600_000);

  expect(end).toHaveBeenCalledTimes(1);
});
