import { expect, test } from 'vitest';

import {
  compareVersions,
  isVersion,
} from '../../../src/package-management/apk/compare-versions.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { startApkDevice } from './start-apk-device.ts';
import { signsOf, type Pair } from './version-signs.ts';

test.each([
  ['1.0', '1.0-r0', '<'],
  ['1.0-r9', '1.0-r10', '<'],
  ['1.01', '1.1', '<'],
  ['1.010', '1.01', '>'],
  ['1.0_rc1', '1.0', '<'],
  ['1.0_p1', '1.0', '>'],
  ['1.0~abc', '1.0', '>'],
  ['1.0~fff-r2', '1.0~000-r1', '>'],
  ['2024.1.1', '2024.01.01', '>'],
  ['1.0-r1', '1.0-r1', '='],
])('version -t %s %s prints %s', async (left, right, sign) => {
  const { apk } = await startApkDevice();

  expect(await apk('version', '-t', left, right)).toEqual({
    code: 0,
    stdout: `${sign}\n`,
    stderr: '',
  });
});

test('what is no version is not compared, and named by version -c', async () => {
  const { apk } = await startApkDevice();

  expect(await apk('version', '-t', '1.0-1', '1.0')).toMatchObject({ code: 1, stdout: '' });
  expect(await apk('version', '-c', '1.0-r1', 'v1', '1.0-1', '1.0~xyz')).toMatchObject({
    code: 3,
    stdout: 'v1\n1.0-1\n1.0~xyz\n',
  });
});

const PAIRS = 2_000;

test(`${PAIRS} drawn pairs compare as in depotd`, async () => {
  const random = createRandom(25_12);
  const pairs = Array.from({ length: PAIRS }, () => drawPair(random));

  const signs = await signsOf(pairs);

  const wrong = pairs.filter(([left, right], at) => signs[at] !== expectedSign(left, right));
  expect(wrong).toEqual([]);
  expect(signs.filter((sign) => sign === '=').length).toBeGreaterThan(20);
  expect(signs.filter((sign) => sign === '').length).toBeGreaterThan(20);
});

/** As `version -t` prints it; empty if one of them is no version. */
function expectedSign(left: string, right: string): string {
  if (!isVersion(left) || !isVersion(right)) return '';
  const order = compareVersions(left, right);
  if (order === 0) return '=';
  return order < 0 ? '<' : '>';
}

/** Two that often differ in one place only. */
function drawPair(random: Random): Pair {
  const left = drawPieces(random);
  const right = random.below(2) === 0 ? drawPieces(random) : [...left];
  const at = random.below(right.length);
  if (random.below(5) > 0) right[at] = drawPieces(random)[at] ?? '';
  return [left.join(''), right.join('')];
}

const NUMBERS = ['0', '00', '1', '01', '2', '9', '10', '010', '2024', '007'] as const;
const SUFFIXES = ['alpha', 'beta', 'pre', 'rc', 'cvs', 'svn', 'git', 'hg', 'p'] as const;

function drawPieces({ pick, below }: Random): string[] {
  const suffix = (): string => `_${pick(SUFFIXES)}${below(2) === 0 ? '' : pick(NUMBERS)}`;
  return [
    below(30) === 0 ? 'v1' : pick(NUMBERS),
    pick(['', `.${pick(NUMBERS)}`]),
    pick(['', '', `.${pick(NUMBERS)}`]),
    pick(['', '', '', 'a', 'b', 'z']),
    pick(['', '', '', suffix(), suffix() + suffix()]),
    pick(['', '', '', '~abc', '~abd', '~00f', ...(below(10) === 0 ? ['~xyz'] : [])]),
    pick(['', '', '-r0', '-r1', '-r10', '-r01', ...(below(10) === 0 ? ['-1', '-rc1'] : [])]),
  ];
}
