import { join } from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { compareVersions } from '../../../src/package-management/opkg/compare-versions.ts';
import { runCommand } from '../../device/command.ts';
import { createDevice } from '../../device/device.ts';
import { createRandom } from '../../support/random.ts';

type Relation = '<' | '=' | '>';
type Pair = [string, string];

const PAIRS: [string, Relation, string][] = [
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

const RANDOM = randomPairs(40);
/** By both versions. */
let said: Map<string, Relation | undefined>;

beforeAll(async () => {
  const pairs = [...PAIRS.map(([a, , b]): Pair => [a, b]), ...RANDOM];
  const relations = await relationsByOpkg(pairs);
  said = new Map(pairs.map((pair, index) => [pair.join(' '), relations[index]]));
});

test.each(PAIRS)('%s %s %s, as opkg sees it', (a, relation, b) => {
  expect(relationOf(a, b)).toBe(relation);
  expect(relationOf(b, a)).toBe({ '<': '>', '=': '=', '>': '<' }[relation]);
  expect(said.get(`${a} ${b}`)).toBe(relation);
});

test('opkg sees random versions the same way', () => {
  for (const [a, b] of RANDOM) {
    expect([a, relationOf(a, b), b]).toEqual([a, said.get(`${a} ${b}`), b]);
  }
});

function relationOf(a: string, b: string): Relation {
  const sign = compareVersions(a, b);
  if (sign === 0) return '=';
  return sign < 0 ? '<' : '>';
}

/** The stand-in's own comparison is asked for all at once: to start it for each takes longer. */
const STAND_IN = `use opkg::version;
  while (my ($a, $b) = splice @ARGV, 0, 2) {
    print qw(= > <)[compare_versions(map { read_version($_) } $a, $b) <=> 0], ' ';
  }`;

async function relationsByOpkg(pairs: readonly Pair[]): Promise<Relation[]> {
  if (process.env.OPKG === undefined) {
    const library = join(import.meta.dirname, '../../device');
    const perl = ['perl', `-I${library}`, '-e', STAND_IN, '--'] as const;
    const { stdout } = await runCommand([...perl, ...pairs.flat()]);
    return stdout.trim().split(' ') as Relation[];
  }
  const device = await createDevice();
  const found: Relation[] = [];
  for (const [a, b] of pairs) {
    for (const [relation, operator] of Object.entries({ '<': '<<', '=': '=', '>': '>>' })) {
      const { code } = await device.opkg('compare-versions', '--', a, operator, b);
      if (code === 0) found.push(relation as Relation);
    }
  }
  await device.close();
  return found;
}

/** The same pairs in every run. */
function randomPairs(count: number): Pair[] {
  const { below, pick } = createRandom(7);
  const version = (): string =>
    Array.from({ length: 1 + below(5) }, () =>
      pick(['0', '1', '9', '10', 'a', 'B', '~', '+', '.', '-', ':']),
    ).join('');
  return Array.from({ length: count }, (): Pair => [`1${version()}`, `1${version()}`]);
}
