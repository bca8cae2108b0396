import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createChangeThrottle } from '../../../src/package-management/apps/change-throttle.ts';

let began: number[];
let throttle: ReturnType<typeof createChangeThrottle>;
/** How long a look takes. */
let lookMs: number;

beforeEach(() => {
  vi.useFakeTimers();
  began = [];
  lookMs = 0;
  throttle = createChangeThrottle(async () => {
    began.push(performance.now());
    if (lookMs > 0) await new Promise((resolve) => setTimeout(resolve, lookMs));
  });
});
afterEach(() => {
  throttle.close();
  vi.useRealTimers();
});

test('the first hint is followed at once, and once more when it has been quiet', async () => {
  const now = performance.now();
  throttle.hint();
  expect(began).toEqual([now]);

  await vi.advanceTimersByTimeAsync(10_000);
  expect(began).toHaveLength(2);
});

test('a hint during a look is followed by one that begins after it', async () => {
  lookMs = 40;
  throttle.hint();
  await vi.advanceTimersByTimeAsync(20);
  const hinted = performance.now();
  throttle.hint();
  await vi.advanceTimersByTimeAsync(200);

  expect(began.filter((time) => time > hinted)).toHaveLength(1);
});

test('however many hints come, looks take a quarter of the time at most', async () => {
  lookMs = 40;
  for (let at = 0; at < 4000; at += 1) {
    throttle.hint();
    await vi.advanceTimersByTimeAsync(1);
  }

  expect(began.length).toBeGreaterThan(20);
  expect(began.length * lookMs).toBeLessThanOrEqual(1040);
});

test('once closed nothing is looked at any more', async () => {
  throttle.hint();
  throttle.hint();
  throttle.close();
  await vi.advanceTimersByTimeAsync(1000);

  expect(began).toHaveLength(1);
});
