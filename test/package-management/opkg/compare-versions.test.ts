import { afterAll, beforeAll, expect, test } from 'vitest';

import { compareVersions } from '../../../src/package-management/opkg/compare-versions.ts';
import { createDevice, type Device } from '../../device/device.ts';

let device: Device;

beforeAll(async () => {
  device = await createDevice();
});

afterAll(() => device.close());

const PAIRS: [string, '<' | '=' | '>', string][] = [
  ['1.0-1', '=', '1.0-1'],
  ['1.0-1', '<', '1.0-2'],
  ['1.0-10', '>', '1.0-9'],
  ['1.10', '>', '1.9'],
  ['1.0', '<', '1.0-1'],
  ['1.0', '=', '1.0-0'],
  ['1.0-', '=', '1.0'],
  ['01.0', '=', '1.0'],
  ['1.001', '=', '1.1'],
  ['1.0~rc1', '<', '1.0'],
  ['1.0~rc1', '<', '1.0~rc2'],
  ['1.0~~', '<', '1.0~'],
  ['1.0~', '<', '1.0'],
  ['1.0~rc1-1', '<', '1.0-1'],
  ['1.0a', '>', '1.0'],
  ['1.0b', '>', '1.0a'],
  ['1.0A', '<', '1.0a'],
  ['1.0+git', '>', '1.0a'],
  ['1.0.1', '>', '1.0+1'],
  ['1.0_1', '>', '1.0.1'],
  ['1:1', '>', '2'],
  ['0:2', '=', '2'],
  ['2:0', '>', '1:9'],
  ['10:1', '>', '9:1'],
  ['x:1', '=', '1'],
  ['1:', '>', '0'],
  ['2021-01-01-1', '<', '2021-01-01-2'],
  ['2021.01.01~abcdef-1', '<', '2021.01.01-1'],
  ['1-2-3', '>', '1-1-9'],
  ['git-22.034.60219-8ce3af3', '<', 'git-23.001.00001-0000000'],
  ['99999999999999999999', '>', '9999999999999999999'],
  ['1.00000000000000000000', '=', '1.0'],
  ['1.9999999999999999999a', '<', '1.10000000000000000000a'],
  ['r1', '<', 'r10'],
  ['a', '>', '1'],
  ['-1', '<', '0-2'],
];

const OPERATOR = { '<': '<<', '=': '=', '>': '>>' };

test.each(PAIRS)('%s %s %s, as opkg sees it', async (a, relation, b) => {
  expect(relationOf(a, b)).toBe(relation);
  expect(relationOf(b, a)).toBe({ '<': '>', '=': '=', '>': '<' }[relation]);
  expect((await device.opkg('compare-versions', '--', a, OPERATOR[relation], b)).code).toBe(0);
});

test('opkg sees random versions the same way', async () => {
  for (const [a, b] of randomPairs(40)) {
    const { code } = await device.opkg('compare-versions', '--', a, OPERATOR[relationOf(a, b)], b);
    expect([a, relationOf(a, b), b, code]).toEqual([a, relationOf(a, b), b, 0]);
  }
});

function relationOf(a: string, b: string): '<' | '=' | '>' {
  const sign = compareVersions(a, b);
  if (sign === 0) return '=';
  return sign < 0 ? '<' : '>';
}

/** The same pairs in every run: a linear congruential generator (Numerical Recipes). */
function randomPairs(count: number): [string, string][] {
  let state = 7;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % limit;
  };
  const signs = ['0', '1', '9', '10', 'a', 'B', '~', '+', '.', '-', ':'];
  const version = (): string =>
    Array.from({ length: 1 + below(5) }, () => signs[below(signs.length)]).join('');
  return Array.from({ length: count }, () => [`1${version()}`, `1${version()}`]);
}
