import { expect, test } from 'vitest';

import { createConcurrencyLimit } from '../../src/device/concurrency-limit.ts';

test('no more run at once than may, and in the order in which they came', async () => {
  const limit = createConcurrencyLimit({ most: 2, mostWaiting: 10, busy: 'cannot go on' });
  const order: number[] = [];
  let running = 0;
  let mostRunning = 0;

  await Promise.all(
    [0, 1, 2, 3, 4, 5].map((index) =>
      limit(async () => {
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
  const limit = createConcurrencyLimit({ most: 1, mostWaiting: 1, busy: 'cannot go on' });
  const gate: { open: () => void } = { open: () => undefined };
  const first = limit(() => new Promise<void>((resolve) => (gate.open = resolve)));
  const second = limit(() => Promise.reject(new Error('failed')));

  await expect(limit(() => Promise.resolve())).rejects.toMatchObject({
    code: 'unavailable',
    message: 'cannot go on',
  });
  gate.open();
  await first;
  await expect(second).rejects.toThrow('failed');
  expect(await limit(() => Promise.resolve('free'))).toBe('free');
});

test('of several clients each is next in turn, however much another one wants', async () => {
  const limit = createConcurrencyLimit({ most: 1, mostWaiting: 10, busy: 'cannot go on' });
  const order: string[] = [];
  const ask = (client: string): Promise<void> =>
    limit(() => Promise.resolve(void order.push(client)), client);

  await Promise.all(['a', 'a', 'a', 'b', 'b', 'c'].map(ask));

  expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
});

test('who wants most makes room for who wants less', async () => {
  const limit = createConcurrencyLimit({ most: 1, mostWaiting: 4, busy: 'cannot go on' });
  const ask = (client: string): Promise<string> => limit(() => Promise.resolve(client), client);

  const outcomes = await Promise.allSettled(['a', 'a', 'a', 'a', 'a', 'b', 'a', 'c', 'd'].map(ask));

  expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : '-'))).toEqual(
    ['a', 'a', '-', '-', '-', 'b', '-', 'c', 'd'],
  );
});
