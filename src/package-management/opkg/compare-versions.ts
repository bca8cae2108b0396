/**
 * Compares two versions as opkg does: epoch, then upstream version, then revision (what stands
 * behind the last hyphen), each by Debian's rule: runs of non-digits by character, with `~` before
 * the end and letters before other characters; runs of digits as numbers. Source: Debian policy,
 * section 5.6.12, and `opkg compare-versions`.
 * @returns negative if a is older, zero if they are the same, positive if a is newer
 */
export function compareVersions(a: string, b: string): number {
  const left = splitVersion(a);
  const right = splitVersion(b);
  return (
    left.epoch - right.epoch ||
    compareComponents(left.upstream, right.upstream) ||
    compareComponents(left.revision, right.revision)
  );
}

/** What a comparison with this version may take, in steps of a plan's budget. */
export function stepsOfComparison(version: string): number {
  return 1 + version.length / CHARACTERS_OF_A_STEP;
}

const CHARACTERS_OF_A_STEP = 8;

function splitVersion(version: string): { epoch: number; upstream: string; revision: string } {
  const colon = version.indexOf(':');
  const rest = version.slice(colon + 1);
  const hyphen = rest.lastIndexOf('-');
  return {
    epoch: colon === -1 ? 0 : Number.parseInt(version, 10) || 0,
    upstream: hyphen === -1 ? rest : rest.slice(0, hyphen),
    revision: hyphen === -1 ? '' : rest.slice(hyphen + 1),
  };
}

/**
 * Pairs of a run of non-digits and the run of digits behind it, leading zeros dropped. Read as far
 * as they are the same: a feed may have a thousand versions of a thousand characters.
 */
function compareComponents(a: string, b: string): number {
  const [left, right] = [a.matchAll(PAIR), b.matchAll(PAIR)];
  for (;;) {
    const [one, other] = [left.next().value ?? END, right.next().value ?? END];
    if (one[0] === '' && other[0] === '') return 0;
    const difference = compareText(one[1], other[1]);
    if (difference !== 0) return difference;
    const numbers = compareDigits(one[2], other[2]);
    if (numbers !== 0) return numbers;
  }
}

/** What stands for a version behind its end. */
const END = ['', '', ''] as const;
const PAIR = /(\D*)0*(\d*)/g;

function compareText(a: string, b: string): number {
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = weightOf(a.charAt(index)) - weightOf(b.charAt(index));
    if (difference !== 0) return difference;
  }
  return 0;
}

function weightOf(character: string): number {
  if (character === '') return 0;
  if (character === '~') return -1;
  const code = character.charCodeAt(0);
  return /[A-Za-z]/.test(character) ? code : code + 256;
}

/** Digits without leading zeros: the longer number is the larger. */
function compareDigits(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}
