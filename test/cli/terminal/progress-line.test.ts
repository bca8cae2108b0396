import { expect, test } from 'vitest';

import { progressLine } from '../../../src/cli/terminal/progress-line.ts';

test.each([
  [{ label: 'copy', percent: 40 }, '[########------------]  40 %  copy'],
  [{ label: 'judge', percent: undefined }, 'judge'],
  [{ label: 'odd', percent: 250 }, '[####################] 100 %  odd'],
])('%j is shown as %j', (stage, line) => {
  expect(progressLine(stage)).toBe(line);
});

const LONG = { label: 'fetch the packages', percent: 40 };
test.each([
  [80, LONG, '[########------------]  40 %  fetch the packages'],
  [38, LONG, '[####------]  40 %  fetch the packages'],
  [29, LONG, ' 40 %  fetch the packages'],
  [20, LONG, ' 40 %  fetch the pac'],
])('on %i columns the figures of a long step are whole', (columns, stage, line) => {
  expect(progressLine(stage, columns)).toBe(line);
});
