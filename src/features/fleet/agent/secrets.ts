import { readFile } from 'node:fs/promises';
import type { FleetSettings } from '../options.ts';

const HIDDEN = '***';
const MOST_CHARACTERS = 1000;
const NAMES = 'passw(?:or)?d|passphrase|pwd|token|secret|psk|credential|api_?key|key|pin';

/** What a secret stands behind, or looks like. It cannot know all of them: rather too much goes. */
const PATTERNS: readonly [RegExp, string][] = [
  [/\b((?:set-)?cookie|(?:proxy-)?authorization)\b["']?\s*[:=].*/gi, `$1: ${HIDDEN}`],
  [/\b(TargetToken|GatewayToken|Bearer|Basic)\s+\S+/gi, `$1 ${HIDDEN}`],
  [/\/\/[^\s/@]+@/g, `//${HIDDEN}@`],
  [
    new RegExp(`((?:${NAMES})\\w{0,32}["']?\\s*[:=]\\s*)("[^"]*"|'[^']*'|[^\\s,;&]+)`, 'gi'),
    `$1${HIDDEN}`,
  ],
  [new RegExp(`((?:${NAMES})\\w{0,32}\\s+(?:is\\s+)?)("[^"]*"|'[^']*')`, 'gi'), `$1${HIDDEN}`],
  [/\b(passw(?:or)?d|passphrase|psk|secret)(\s+)[^\s*]\S*/gi, `$1$2${HIDDEN}`],
  [/-----BEGIN.*/g, HIDDEN],
  [/(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{40,}/g, HIDDEN],
  // Keys and tokens by their look: long, with digits among letters.
  [/(?<![\w+/=-])(?=[\w+=-]*\d)(?=[\w+=-]*[a-zA-Z])[\w+=-]{24,}/g, HIDDEN],
];

/** The lines without what opens a door; each of 1000 characters at most. */
export async function withoutSecrets(
  { token_file: tokenFile }: Pick<FleetSettings, 'token_file'>,
  lines: readonly string[],
): Promise<string[]> {
  const text = await readFile(tokenFile, 'utf8').catch(() => '');
  const own = text.split(/\s+/).filter((word) => word.length >= 6 && !/^\w+Token$/.test(word));
  return lines.map((line) => {
    const plain = own.reduce((rest, word) => rest.replaceAll(word, HIDDEN), line);
    return PATTERNS.reduce(
      (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
      plain.slice(0, MOST_CHARACTERS),
    );
  });
}
