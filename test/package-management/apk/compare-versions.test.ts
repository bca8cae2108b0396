import fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  compareVersions,
  isVersion,
} from '../../../src/package-management/apk/compare-versions.ts';
import { signsOf } from '../../device/apk-contract/version-signs.ts';

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

const number = fc.oneof(
  fc.nat({ max: 30 }).map(String),
  fc.constantFrom('0', '00', '01', '010', '007', '2024', '20240101'),
);
const suffix = fc.constantFrom('alpha', 'beta', 'pre', 'rc', 'cvs', 'svn', 'git', 'hg', 'p');
const optional = (piece: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(fc.constant(''), piece);
const version = fc
  .tuple(
    number,
    fc.array(number, { maxLength: 3 }).map((rest) => rest.map((digits) => `.${digits}`).join('')),
    optional(fc.constantFrom('a', 'b', 'z')),
    optional(fc.tuple(suffix, optional(number)).map(([name, digits]) => `_${name}${digits}`)),
    optional(fc.constantFrom('~abc', '~abd', '~0', '~c0ffee', '~decade')),
    optional(number.map((digits) => `-r${digits}`)),
  )
  .map((pieces) => pieces.join(''));
/** Many differ by little. */
const pair = fc.oneof(
  fc.tuple(version, version),
  fc.tuple(version, number).map(([text, digits]) => [text, text.replace(/\d+$/, digits)] as const),
  fc.tuple(version, number).map(([text, digits]) => [text, text.replace(/\d+/, digits)] as const),
);
const PAIRS = 2000;

test(`of ${PAIRS} drawn pairs apk says the same`, { timeout: 120_000 }, async () => {
  const pairs = fc.sample(pair, PAIRS);

  const answers = await signsOf(pairs);

  expect(pairs.map(([a, b], index) => `${a} ${answers[index] ?? ''} ${b}`)).toEqual(
    pairs.map(([a, b]) => `${a} ${signOf(compareVersions(a, b))} ${b}`),
  );
});
