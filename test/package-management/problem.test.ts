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
