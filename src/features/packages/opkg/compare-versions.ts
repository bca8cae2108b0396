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

function compareComponents(a: string, b: string): number {
  const left = tokensOf(a);
  const right = tokensOf(b);
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const { text, digits } = left[index] ?? END;
    const other = right[index] ?? END;
    const difference = compareText(text, other.text) || compareDigits(digits, other.digits);
    if (difference !== 0) return difference;
  }
  return 0;
}

interface Token {
  text: string;
  digits: string;
}

const END: Token = { text: '', digits: '' };

/**
 * Splits into pairs of a run of non-digits and the run of digits behind it, leading zeros dropped.
 */
function tokensOf(part: string): Token[] {
  const tokens: Token[] = [];
  for (const [whole, text = '', digits = ''] of part.matchAll(/(\D*)0*(\d*)/g)) {
    if (whole !== '') tokens.push({ text, digits });
  }
  return tokens;
}

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
