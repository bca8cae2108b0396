import * as v from 'valibot';

export const uciName = v.pipe(
  v.string(),
  v.maxLength(128, 'at most 128 characters are allowed'),
  v.regex(/^[A-Za-z0-9_-]+$/, 'a configuration name is letters, digits, _ and -'),
);

/** An absolute path without `.`, `..`, empty parts, NUL or line breaks. */
export const devicePath = v.pipe(
  v.string(),
  v.maxLength(4096, 'at most 4096 characters are allowed'),
  // U+FFFD stands for bytes that are no UTF-8: another path than the one that was meant.
  v.regex(
    /^(?:\/|(?:\/(?!\.{1,2}(?:\/|$))[^/\0\n\r\ufffd]+)+)$/,
    'an absolute, normalised path is expected',
  ),
);

/** `1` and `true`, `0` and `false`. */
export const flag = v.picklist(['0', '1', 'false', 'true'], '0, 1, false or true is expected');

export function isOn(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

export function isOff(value: string | undefined): boolean {
  return value === '0' || value === 'false';
}
