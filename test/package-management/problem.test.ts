import { expect, test } from 'vitest';
import {
  createProblem,
  PROBLEM_CODES,
  REMEDIES,
  remedyOf,
} from '../../src/package-management/problem.ts';

test.each(PROBLEM_CODES)('the remedy of %s is one sentence without open placeholders', (code) => {
  expect(remedyOf(code, 'demo')).toMatch(/^[A-Z][^{}]+\.$/);
  expect(remedyOf(code)).not.toMatch(/[{}]|\. /);
});

test('a remedy names the package that it is about', () => {
  expect(createProblem('needed_by', 'cannot remove libdemo: demo-app needs it', 'libdemo')).toEqual(
    {
      code: 'needed_by',
      package: 'libdemo',
      message: 'cannot remove libdemo: demo-app needs it',
      remedy: 'Remove the packages that need libdemo first.',
    },
  );
  expect(createProblem('no_space', 'cannot install')).not.toHaveProperty('package');
  expect(remedyOf('held', '$&')).toContain('$&');
});

test('each code has a text that a page can find in its catalogue', () => {
  expect(Object.keys(REMEDIES).sort()).toEqual([...PROBLEM_CODES].sort());
  expect(new Set(Object.values(REMEDIES)).size).toBe(PROBLEM_CODES.length);
});

test.each([
  ['install demo: demo needs libx, which no feed offers', 'it needs libx, which no feed offers'],
  ['install demo: no feed offers demo', 'no feed offers it'],
  ['install demo: no feed offers demo 2.0-1 any more', 'no feed offers version 2.0-1 any more'],
  ['remove lib+x: app and other need lib+x', 'app and other need it'],
  [
    'install demo: the script of demo-1.0-r1 that ran says "demo: no"',
    'its script that ran says "demo: no"',
  ],
  ['install demo: 1 MiB is free, demo needs 2 MiB', '1 MiB is free, it needs 2 MiB'],
  [
    'install demo: lib-1.0-r1, demo-1.0-r1 could not be fetched',
    'lib-1.0-r1, demo-1.0-r1 could not be fetched',
  ],
  ['install file: the file lacks /bin/file', 'the file lacks /bin/file'],
  ['install demo: demo-app conflicts with demo', 'demo-app conflicts with demo'],
  ['upgrade all: it lacks the list of all', 'it lacks the list of all'],
])('what cannot be done is said with one name: %s', (said, reason) => {
  const { message } = createProblem('unknown', `cannot ${said}`);

  expect(message.slice(message.indexOf(': ') + 2)).toBe(reason);
});
