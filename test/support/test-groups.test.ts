import { matchesGlob } from 'node:path';

import { expect, test } from 'vitest';

import { filesBelow, importsOf } from '../source-tree.ts';
import { BROWSER, TEST_GROUPS } from './test-groups.ts';

test('what is looked at with a browser is of the group that needs one, and so never passes unseen', () => {
  const group = TEST_GROUPS.find(({ commands }) => commands.includes(BROWSER));
  const looking = filesBelow('test').filter(
    (file) =>
      file.endsWith('.test.ts') &&
      importsOf(file).some(({ to }) => /^test\/panel\/(?:browser|open-panel)\.ts$/.test(to)),
  );

  expect(looking.length).toBeGreaterThan(10);
  expect(
    looking.filter((file) => group?.files.every((files) => !matchesGlob(file, files))),
  ).toEqual([]);
});
