import * as fc from 'fast-check';

/** What acts on a terminal: C0 but for line feeds and tabs, DEL, C1, and what turns text round. */
const ACTIVE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** @returns why the text is not to be written to a terminal */
export function activeIn(text: string): string | undefined {
  const found = ACTIVE.exec(text);
  if (found === null) return undefined;
  const around = text.slice(Math.max(0, found.index - 60), found.index + 60);
  return `acts on a terminal: ${JSON.stringify(around)}`;
}

const pieces = fc.constantFrom(
  ...['\x1b]52;c;ZXZpbA==\x07', '\x1b[2J', '\x9b2J', '\x9d0;t\x9c', '\x1bc', '\x1b[8m'],
  ...['\u202e', '\u2066', '\u200f', '\u2028', '\u061c', '\0', '\x08', '\x7f', '\x85', '\r'],
  ...['a', ' ', 'p0', 'libc', '/', '..', '%00', '-', '~', ':', ',', '|', '(>= 1)', '{', '"', '\\'],
  ...['é', '\u{1f600}', '\ud800', '\ufeff', '9'.repeat(40), 'x'.repeat(300)],
);

/** A line of text as somebody may write it who means harm. */
export const evilLine: fc.Arbitrary<string> = fc
  .array(pieces, { minLength: 1, maxLength: 6 })
  .map((drawn) => drawn.join(''));

/** A value of JSON out of such texts, odd numbers and depth. */
export const evilValue: fc.Arbitrary<unknown> = fc.oneof(
  evilLine,
  fc.constantFrom(0, -1, 1e308, -1e308, 2 ** 53, 0.1, true, false, null, '', '99:99:99', [], {}),
  fc.integer({ min: 1, max: 40 }).map((depth) => nested(depth)),
  fc.array(evilLine, { maxLength: 5 }),
  fc.dictionary(evilLine, evilLine, { maxKeys: 5 }),
);

function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)];
}
