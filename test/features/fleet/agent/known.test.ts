import { expect, test } from 'vitest';

import { createKnown, noticesOf } from '../../../../src/features/fleet/agent/fleet.ts';

test('a daemon that has done a thousand actions remembers no more of them than after two', () => {
  const known = createKnown();
  const notify = (key: string): void => void noticesOf(known, { key }).said.add('download');
  notify('0');
  notify('1');
  const afterTwo = entriesIn(known);

  for (let index = 1; index < 1000; index += 1) notify(String(index));

  expect(entriesIn(known)).toBe(afterTwo);
});

test('what was said of the action under way is remembered, and of the next one nothing was', () => {
  const known = createKnown();
  noticesOf(known, { key: 'one' }).said.add('download');

  expect(noticesOf(known, { key: 'one' }).said.has('download')).toBe(true);
  expect(noticesOf(known, { key: 'two' }).said.has('download')).toBe(false);
});

/** Of all collections together, at any depth. */
function entriesIn(value: unknown): number {
  if (value instanceof Map || value instanceof Set) {
    return value.size + [...value.values()].reduce<number>((sum, one) => sum + entriesIn(one), 0);
  }
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + entriesIn(one), 0);
}
