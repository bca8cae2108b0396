import { describe, expect, test } from 'vitest';

import { pauseMs, startPauseMs } from '../../../src/features/fleet/schedule.ts';

const DAY_S = 86_400;
const spread = (pause: (random: () => number) => number): [least: number, most: number] => [
  pause(() => 0) / 1000,
  pause(() => 0.999_999) / 1000,
];

describe('the pause to the next poll', () => {
  test.each([
    ['an interval of the server', [300, DAY_S], [270, 330]],
    ['no interval yet', [undefined, DAY_S], [270, 330]],
    ['an interval that is too short', [1, DAY_S], [30, 33]],
    ['an interval of zero', [0, DAY_S], [30, 33]],
    ['an interval of weeks', [30 * DAY_S, DAY_S], [77_760, 86_400]],
    ['a bound of the owner', [3600, 600], [540, 600]],
  ])('of %s', (_, [intervalS, mostS = DAY_S], [least = 0, most = 0]) => {
    const [from, to] = spread((random) => pauseMs({ intervalS, mostS, failures: 0 }, random));
    expect(from).toBeCloseTo(least, 0);
    expect(to).toBeCloseTo(most, 0);
  });

  test.each([
    [1, [15, 75]],
    [2, [15, 135]],
    [4, [15, 495]],
    [100, [15, 915]],
  ])('after %i failures is anywhere in a range that grows', (failures, [least = 0, most = 0]) => {
    const [from, to] = spread((random) =>
      pauseMs({ intervalS: 300, mostS: DAY_S, failures }, random),
    );
    expect(from).toBeCloseTo(least, 0);
    expect(to).toBeCloseTo(most, 0);
  });
});

test.each([
  ['without an action', { intervalS: 300, hasAction: false, most: 300 }],
  ['with an action under way', { intervalS: 300, hasAction: true, most: 60 }],
  ['with a long interval', { intervalS: DAY_S, hasAction: false, most: 900 }],
])('the first poll %s is anywhere from now on', (_, { intervalS, hasAction, most }) => {
  const [from, to] = spread((random) =>
    startPauseMs({ intervalS, mostS: DAY_S }, hasAction, random),
  );
  expect(from).toBe(0);
  expect(to).toBeCloseTo(most, 0);
});
