import { expect, test } from 'vitest';

import { progressLine } from '../../../src/cli/terminal/progress-line.ts';

test.each([
  [
    { label: 'copy', done: 1, total: 4, percent: 40 },
    '[########------------]  40 %  copy (2 of 4)',
  ],
  [
    { label: 'judge', done: 3, total: 4, percent: undefined },
    '[###############-----]  75 %  judge (4 of 4)',
  ],
  [
    { label: 'end', done: 4, total: 4, percent: undefined },
    '[####################] 100 %  end (4 of 4)',
  ],
  [{ label: 'odd', done: 0, total: 0, percent: 250 }, '[####################] 100 %  odd'],
])('%j is shown as %j', (stage, line) => {
  expect(progressLine(stage)).toBe(line);
});

const LONG = { label: 'fetch the packages', done: 1, total: 12, percent: 40 };
test.each([
  [80, LONG, '[########------------]  40 %  fetch the packages (2 of 12)'],
  [49, LONG, '[####-------]  40 %  fetch the packages (2 of 12)'],
  [39, LONG, ' 40 %  fetch the packages (2 of 12)'],
  [30, LONG, ' 40 %  fetch the pac (2 of 12)'],
])('on %i columns the figures of a long step are whole', (columns, stage, line) => {
  expect(progressLine(stage, columns)).toBe(line);
});
