import { expect, test } from 'vitest';

import { judgeCut, type Look } from './judge.ts';

const files = { whole: 5, damaged: ['/usr/bin/app'], missing: ['/usr/share/app'] };
const whole = { whole: 7, damaged: [], missing: [] };

function lookOf(more: Partial<Look> & { isBroken?: boolean }, isBad = true): Look {
  const app = {
    version: 1,
    files: isBad ? files : whole,
    isBroken: more.isBroken === true,
  } as const;
  return { state: 'interrupted', packages: { app }, doctor: [], problems: [], ...more };
}

test.each([
  ['nobody says so', {}, 2],
  ['the doctor speaks of its settings', { doctor: [doctor('kept-settings')] }, 2],
  ['the doctor says that files are gone', { doctor: [doctor('package-files')] }, 1],
  ['it is shown as broken', { isBroken: true }, 0],
])('files of a package that are not whole while %s', (_, more, count) => {
  const again = { ...lookOf({}, false), state: 'done' };
  const seen = { isAccepted: true, answered: undefined, found: lookOf(more), again };

  expect(judgeCut(seen, { app: 1 })).toEqual(
    count === 0 ? [] : [`app: ${count} files are not whole, and nobody says so`],
  );
});

function doctor(id: string): Look['doctor'][number] {
  return { id, message: `of app: /usr/share/app` };
}
