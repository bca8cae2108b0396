import { expect, test } from 'vitest';

import { isInsideFolder } from '../../src/device/inside-folder.ts';

test.each([
  ['/a/b', '/a', true],
  ['/a/b/c', '/a', true],
  ['/a', '/', true],
  ['/a', '/a', false],
  ['/ab', '/a', false],
  ['/', '/', false],
  ['/', '/a', false],
])('%s inside %s: %s', (path, folder, expected) => {
  expect(isInsideFolder(path, folder)).toBe(expected);
});
