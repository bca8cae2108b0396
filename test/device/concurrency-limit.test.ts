import { expect, test } from 'vitest';

import { createTurns } from '../../src/device/concurrency-limit.ts';

test('no more run at once than may, and in the order in which they came', async () => {
  const turns = createTurns({ name: 'the test', most: 2, mostWaiting: 10 });
  const order: number[] = [];
  let running = 0;
  let mostRunning = 0;

  await Promise.all(
    [0, 1, 2, 3, 4, 5].map((index) =>
      turns(async () => {
        order.push(index);
        mostRunning = Math.max(mostRunning, (running += 1));
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      }),
    ),
  );

  expect([mostRunning, order]).toEqual([2, [0, 1, 2, 3, 4, 5]]);
});

test('one too many is refused, and its place is not lost', async () => {
  const turns = createTurns({ name: 'the test', most: 1, mostWaiting: 1 });
  const gate: { open: () => void } = { open: () => undefined };
  const first = turns(() => new Promise<void>((resolve) => (gate.open = resolve)));
  const second = turns(() => Promise.reject(new Error('failed')));

  await expect(turns(() => Promise.resolve())).rejects.toMatchObject({ code: 'unavailable' });
  gate.open();
  await first;
  await expect(second).rejects.toThrow('failed');
  expect(await turns(() => Promise.resolve('free'))).toBe('free');
});
