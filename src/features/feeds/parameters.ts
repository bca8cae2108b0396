import * as v from 'valibot';
import { flag } from '../../http/parameter-schemas.ts';

/** With opkg the name of a file, too: the feed's list. */
export const feedName = v.pipe(
  v.string(),
  v.maxLength(64, 'at most 64 characters are allowed'),
  v.regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'a name of a feed is letters, digits and . _ -, beginning with a letter or digit',
  ),
  v.check((name) => !name.endsWith('.sig'), 'a name of a feed does not end with .sig'),
);

/** A name as it stands in a file that somebody else wrote; it is only compared. */
export const knownName = v.pipe(
  v.string(),
  v.minLength(1, 'a name is expected'),
  v.maxLength(200, 'at most 200 characters are allowed'),
);

const HOST = String.raw`(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?`;
const FEED_URL = new RegExp(`^https?://${HOST}(?:/[A-Za-z0-9._~%!&()*+,;=:@/-]*)?$`);

/**
 * It becomes a word of a line, an argument of a program and the beginning of other addresses: no
 * blank, quote, backslash or `$`, no query and no fragment, and no password, which every user of
 * the device could read there.
 */
export const feedUrl = v.pipe(
  v.string(),
  v.maxLength(512, 'at most 512 characters are allowed'),
  v.regex(FEED_URL, 'an address of http or https is expected, without a log-in, blanks, ? and #'),
  v.check((url) => URL.canParse(url), 'an address is expected'),
);

/** Public keys are some hundred characters. */
export const keyText = v.pipe(
  v.string(),
  v.maxLength(4096, 'at most 4096 characters are allowed'),
  v.regex(/^[\n\r\x20-\x7e]+$/, 'the text of a public key is expected'),
);

export const enabledFlag = flag;
