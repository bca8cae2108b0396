import * as v from 'valibot';

export const uciName = v.pipe(
  v.string(),
  v.maxLength(128, 'at most 128 characters are allowed'),
  v.regex(/^[A-Za-z0-9_-]+$/, 'a configuration name is letters, digits, _ and -'),
);

/**
 * A name in a path: not `.` or `..`, no NUL, no line break. U+FFFD stands for what is no UTF-8:
 * another path than the one that was meant. Written without lookahead, and with escapes that all
 * engines know: clients of openapi.json read it with theirs.
 */
const CHARACTER = String.raw`[^/\x00\n\r\uFFFD]`;
const NO_DOT = String.raw`[^./\x00\n\r\uFFFD]`;
const SEGMENT = String.raw`(?:\.?${NO_DOT}${CHARACTER}*|\.\.${CHARACTER}+)`;
export const DEVICE_PATH = new RegExp(`^/(?:${SEGMENT}(?:/${SEGMENT})*)?$`);

/** A request line of 16 KiB has room for so many of four bytes, twelve characters there each. */
export const MOST_PATH_CHARACTERS = 1024;

/** In characters, as JSON Schema's `maxLength` counts: valibot counts those beyond U+FFFF twice. */
export function mostCharacters(limit: number): v.CheckAction<string, string> & CharacterLimit {
  const isWithin = (text: string): boolean =>
    text.length <= limit || Array.from(text).length <= limit;
  return {
    ...v.check(isWithin, `at most ${limit} characters are allowed`),
    mostCharacters: limit,
  };
}

/** By which the converter to JSON Schema knows such a check. */
export interface CharacterLimit {
  mostCharacters: number;
}

/** An absolute path without `.`, `..`, empty parts, NUL or line breaks. */
export const devicePath = v.pipe(
  v.string(),
  mostCharacters(MOST_PATH_CHARACTERS),
  v.regex(DEVICE_PATH, 'an absolute, normalised path is expected'),
);

/** One of several words. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  const expected = `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`;
  return v.picklist(words, `${expected} is expected`);
}

/** `1` and `true`, `0` and `false`. */
export const flag = v.picklist(['0', '1', 'false', 'true'], '0, 1, false or true is expected');

/** Within how many seconds a change has to be confirmed. */
export const confirmSeconds = v.pipe(
  v.string(),
  v.regex(/^(?:[3-9]\d|[1-5]\d\d|600)$/, 'a number of seconds from 30 to 600 is expected'),
);

export function isOn(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

export function isOff(value: string | undefined): boolean {
  return value === '0' || value === 'false';
}
