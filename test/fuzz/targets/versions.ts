import * as fc from 'fast-check';

import { compareVersions } from '../../../src/package-management/opkg/compare-versions.ts';
import type { Device } from '../../device/device.ts';
import { property, type FuzzTarget } from '../target.ts';

const signs = fc.constantFrom(
  '0',
  '1',
  '9',
  '10',
  '00',
  'a',
  'B',
  'z',
  '~',
  '+',
  '.',
  '-',
  ':',
  '_',
);
const version = fc
  .array(signs, { minLength: 1, maxLength: 9 })
  .map((pieces) => pieces.join(''))
  // An epoch with a sign is none by the policy, and opkg reads it as C does.
  .filter((text) => /^[^+-]/.test(text));

/** Antisymmetric, transitive, and the same as the rule of Debian policy 5.6.12 read sign by sign. */
export function versionTargets(device: Device): FuzzTarget[] {
  return [
    property('versions', 5000, {
      inputs: fc.tuple(version, version, version),
      check: ([a, b, c]) => {
        const [ab, ba, bc, ac] = [sign(a, b), sign(b, a), sign(b, c), sign(a, c)];
        if (ab + ba !== 0) return `${a} and ${b} compare as ${ab} and ${ba}`;
        if (ab <= 0 && bc <= 0 && ac > 0) return `${a} ≤ ${b} ≤ ${c}, but ${a} > ${c}`;
        const expected = Math.sign(compareByPolicy(a, b));
        return ab === expected ? undefined : `${a} to ${b} is ${ab}, and ${expected} by the policy`;
      },
    }),
    property('versions by opkg', 12, {
      inputs: fc.tuple(version, version).map(([a, b]): [string, string] => [`1${a}`, `1${b}`]),
      check: async ([a, b]) => {
        const operator = ['<<', '=', '>>'][sign(a, b) + 1] ?? '';
        const { code } = await device.opkg('compare-versions', '--', a, operator, b);
        return code === 0 ? undefined : `opkg does not agree that ${a} ${operator} ${b}`;
      },
    }),
  ];
}

function sign(a: string, b: string): number {
  return Math.sign(compareVersions(a, b));
}

function compareByPolicy(a: string, b: string): number {
  const [left, right] = [split(a), split(b)];
  return left[0] - right[0] || verrevcmp(left[1], right[1]) || verrevcmp(left[2], right[2]);
}

function split(text: string): [epoch: number, upstream: string, revision: string] {
  const colon = text.indexOf(':');
  const epoch = colon < 0 ? 0 : Number(/^\d+/.exec(text)?.[0] ?? 0);
  const rest = colon < 0 ? text : text.slice(colon + 1);
  const hyphen = rest.lastIndexOf('-');
  return hyphen < 0 ? [epoch, rest, ''] : [epoch, rest.slice(0, hyphen), rest.slice(hyphen + 1)];
}

/** One sign after the other in both, as the policy tells it. */
function verrevcmp(a: string, b: string): number {
  let [left, right] = [a, b];
  while (left !== '' || right !== '') {
    while (startsWithText(left) || startsWithText(right)) {
      const difference = order(left[0]) - order(right[0]);
      if (difference !== 0) return difference;
      left = startsWithText(left) ? left.slice(1) : left;
      right = startsWithText(right) ? right.slice(1) : right;
    }
    const [ours = '', theirs = ''] = [left, right].map((text) => /^\d*/.exec(text)?.[0]);
    const difference = BigInt(`0${ours}`) - BigInt(`0${theirs}`);
    if (difference !== 0n) return difference < 0n ? -1 : 1;
    left = left.slice(ours.length);
    right = right.slice(theirs.length);
  }
  return 0;
}

function startsWithText(text: string): boolean {
  return text !== '' && !isDigit(text[0]);
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}

function order(character: string | undefined): number {
  if (character === undefined || isDigit(character)) return 0;
  if (character === '~') return -1;
  return /[A-Za-z]/.test(character) ? character.charCodeAt(0) : character.charCodeAt(0) + 256;
}
