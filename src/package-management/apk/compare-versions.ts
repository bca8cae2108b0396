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

/** In the order in which they may follow each other. */
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

interface Token {
  kind: (typeof KINDS)[number];
  text: string;
}

/** @returns a function that reads one token a call */
function createTokens(version: string): () => Token {
  let rest = version;
  let last: Token['kind'] | undefined;
  const accept = (kind: Token['kind'], pattern: RegExp): Token => {
    const [all, text = ''] = pattern.exec(rest) ?? [];
    if (all === undefined) return { kind: 'invalid', text: '' };
    rest = rest.slice(all.length);
    return { kind, text };
  };
  return () => {
    const token = last === undefined ? accept('initial', /^(\d+)/) : nextToken(rest, last, accept);
    last = token.kind;
    return token;
  };
}

/** What begins how, which kinds may come before it, and what of it is compared. */
const RULES: readonly {
  kind: Token['kind'];
  start: RegExp;
  pattern: RegExp;
  mayFollow: (last: Token['kind']) => boolean;
}[] = [
  { kind: 'letter', start: /^[a-z]/, pattern: /^([a-z])/, mayFollow: isBefore('letter') },
  {
    kind: 'suffix-number',
    start: /^\d/,
    pattern: /^(\d+)/,
    mayFollow: (last) => last === 'suffix',
  },
  { kind: 'digits', start: /^[.\d]/, pattern: /^\.?(\d+)/, mayFollow: isBefore('letter') },
  {
    kind: 'suffix',
    start: /^_/,
    pattern: /^_(alpha|beta|pre|rc|cvs|svn|git|hg|p)(?![a-z])/,
    mayFollow: isBefore('hash'),
  },
  { kind: 'hash', start: /^~/, pattern: /^~([0-9a-f]+)/, mayFollow: isBefore('hash') },
  { kind: 'revision', start: /^-/, pattern: /^-r(\d+)/, mayFollow: isBefore('revision') },
];

function isBefore(kind: Token['kind']): (last: Token['kind']) => boolean {
  return (last) => KINDS.indexOf(last) < KINDS.indexOf(kind);
}

function nextToken(
  rest: string,
  last: Token['kind'],
  accept: (kind: Token['kind'], pattern: RegExp) => Token,
): Token {
  if (rest === '') return { kind: 'end', text: '' };
  const rule = RULES.find(({ start, mayFollow }) => start.test(rest) && mayFollow(last));
  return rule === undefined ? { kind: 'invalid', text: '' } : accept(rule.kind, rule.pattern);
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

function compareTexts(a: string, b: string): number {
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
