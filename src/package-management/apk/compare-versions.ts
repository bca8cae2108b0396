/**
 * Compares two versions as apk does (apk_version_compare of apk-tools 3.0.5):
 * `digits{.digits}{letter}{_suffix{digits}}{~hash}{-rN}`. Invalid parts count as apk counts them:
 * what stands before them decides.
 * @returns negative, zero or positive
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [createTokens(a), createTokens(b)];
  for (;;) {
    const [one, other] = [left(), right()];
    if (one.kind !== other.kind) return compareKinds(one, other);
    if (one.kind === 'end' || one.kind === 'invalid') return 0;
    const order = compareTokens(one, other);
    if (order !== 0) return order;
  }
}

/** Whether apk accepts the text as a version. */
export function isVersion(text: string): boolean {
  const next = createTokens(text);
  for (;;) {
    const { kind } = next();
    if (kind === 'end') return true;
    if (kind === 'invalid') return false;
  }
}

/** Kinds of tokens, in the order in which they may follow each other. */
const KINDS = [
  'initial',
  'digits',
  'letter',
  'suffix',
  'suffix-number',
  'hash',
  'revision',
  'end',
  'invalid',
] as const;

/** In ascending order; the empty one stands for a version without suffix. */
const SUFFIXES = ['alpha', 'beta', 'pre', 'rc', '', 'cvs', 'svn', 'git', 'hg', 'p'];
const NO_SUFFIX = SUFFIXES.indexOf('');

type Kind = (typeof KINDS)[number];

interface Token {
  kind: Kind;
  text: string;
}

/** Which kinds may come before it, how it looks, and what of it is compared. */
const RULES: readonly { kind: Kind; pattern: RegExp; mayFollow: (last?: Kind) => boolean }[] = [
  { kind: 'initial', pattern: /^(\d+)/, mayFollow: (last) => last === undefined },
  { kind: 'letter', pattern: /^([a-z])/, mayFollow: isBefore('letter') },
  { kind: 'suffix-number', pattern: /^(\d+)/, mayFollow: (last) => last === 'suffix' },
  { kind: 'digits', pattern: /^\.?(\d+)/, mayFollow: isBefore('letter') },
  {
    kind: 'suffix',
    pattern: /^_(alpha|beta|pre|rc|cvs|svn|git|hg|p)(?![a-z])/,
    mayFollow: isBefore('hash'),
  },
  { kind: 'hash', pattern: /^~([0-9a-f]+)/, mayFollow: isBefore('hash') },
  { kind: 'revision', pattern: /^-r(\d+)/, mayFollow: isBefore('revision') },
];

function isBefore(kind: Kind): (last: Kind | undefined) => boolean {
  return (last) => last !== undefined && KINDS.indexOf(last) < KINDS.indexOf(kind);
}

/** @returns a function that reads one token a call */
function createTokens(version: string): () => Token {
  let rest = version;
  let last: Kind | undefined;
  return () => {
    if (rest === '' && last !== undefined) return { kind: 'end', text: '' };
    for (const { kind, pattern, mayFollow } of RULES) {
      const [all, text = ''] = (mayFollow(last) ? pattern.exec(rest) : null) ?? [];
      if (all === undefined) continue;
      rest = rest.slice(all.length);
      last = kind;
      return { kind, text };
    }
    return { kind: 'invalid', text: '' };
  };
}

function compareTokens({ kind, text: a }: Token, { text: b }: Token): number {
  if (kind === 'suffix') return SUFFIXES.indexOf(a) - SUFFIXES.indexOf(b);
  const isText =
    kind === 'hash' ||
    kind === 'letter' ||
    (kind === 'digits' && (a.startsWith('0') || b.startsWith('0')));
  return isText ? compareTexts(a, b) : compareNumbers(a, b);
}

/** Numbers of any length, as far as apk's 64 bits hold them. */
function compareNumbers(a: string, b: string): number {
  const [left, right] = [BigInt.asUintN(64, BigInt(a)), BigInt.asUintN(64, BigInt(b))];
  return left < right ? -1 : Number(left > right);
}

/** By the codes of their characters, as apk sorts names, too. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** What is equal so far and then differs in kind: longer is newer, unless it says it is not yet. */
function compareKinds(a: Token, b: Token): number {
  if (isPrerelease(a)) return -1;
  if (isPrerelease(b)) return 1;
  return KINDS.indexOf(b.kind) - KINDS.indexOf(a.kind);
}

function isPrerelease({ kind, text }: Token): boolean {
  return kind === 'suffix' && SUFFIXES.indexOf(text) < NO_SUFFIX;
}
