import { expect, test } from 'vitest';

import {
  compareVersions,
  isVersion,
} from '../../../../src/features/packages/apk/compare-versions.ts';

/** As `apk version -t` of apk-tools 3.0.5 says. */
test.each([
  ['1.0', '<', '1.0-r0'],
  ['1.0', '<', '1.0.0'],
  ['1.0', '<', '1.00'],
  ['1.0-r9', '<', '1.0-r10'],
  ['1.9', '<', '1.10'],
  ['1.01', '<', '1.1'],
  ['1.09', '<', '1.9'],
  ['1.010', '>', '1.01'],
  ['2024.1.1', '>', '2024.01.01'],
  ['1.0', '<', '1.0a'],
  ['1.0a', '<', '1.0b'],
  ['1.0_alpha', '<', '1.0_rc1'],
  ['1.0_rc1', '<', '1.0'],
  ['1.0', '<', '1.0_git20240101'],
  ['1.0_git20240101', '<', '1.0_p1'],
  ['1.0_cvs', '<', '1.0_git'],
  ['1.0', '<', '1.0~abc'],
  ['1.0~abc', '<', '1.0~abd'],
  ['1.0~fff-r2', '>', '1.0~000-r1'],
  ['6.12.71~c0ffee-r1', '<', '6.12.71~decade-r1'],
  ['25.081.38700~bf', '<', '25.082.1~aa'],
  ['1.0.0-r1', '>', '1.0-r2'],
  ['20240101', '>', '1.0'],
  ['7', '<', '10'],
  ['1.2.3', '<', '1.2.3-r1'],
  ['1.2.3', '<', '1.2.3.1'],
  ['1.0-r1', '=', '1.0-r1'],
])('%s %s %s', (a, sign, b) => {
  expect(signOf(compareVersions(a, b))).toBe(sign);
  expect(signOf(compareVersions(b, a))).toBe(OPPOSITE[sign]);
});

test.each([
  '1.0-1',
  'v1.0',
  'git-24.1',
  '1:1.0',
  '1.0+1',
  '1.0-beta',
  '1.0-rc1',
  '1.0~ABC',
  '1.0~xyz',
  '1.0ab',
  '1.0a1',
  '1..0',
  '1.0-r1~abc',
  '',
])('"%s" is no version', (text) => {
  expect(isVersion(text)).toBe(false);
});

const OPPOSITE: Readonly<Record<string, string>> = { '<': '>', '=': '=', '>': '<' };

function signOf(order: number): string {
  return ['<', '=', '>'][Math.sign(order) + 1] ?? '';
}
