import * as v from 'valibot';
import { HOST_PATTERN, PORT_PATTERN } from '../../http/host-patterns.ts';
import { mostCharacters } from '../../http/parameter-schemas.ts';

/**
 * With opkg the name of a file, too: the feed's list, beside which `NAME.sig` has its signature.
 * Without lookahead: an end of four characters, one of which is another than in `.sig`.
 */
const CHARACTER = '[A-Za-z0-9._-]';
const NO_SIG =
  `[A-Za-z0-9_-]${CHARACTER}{3}|[.][A-Za-rt-z0-9._-]${CHARACTER}{2}` +
  `|[.]s[A-Za-hj-z0-9._-]${CHARACTER}|[.]si[A-Za-fh-z0-9._-]`;

export const feedName = v.pipe(
  v.string(),
  v.maxLength(64, 'at most 64 characters are allowed'),
  v.regex(
    new RegExp(`^[A-Za-z0-9](?:${CHARACTER}{0,3}|${CHARACTER}*(?:${NO_SIG}))$`),
    'a name of a feed is letters, digits and . _ -, beginning with a letter or digit, and does ' +
      'not end with .sig',
  ),
);

/** A name as it stands in a file that somebody else wrote; it is only compared. */
export const knownName = v.pipe(
  v.string(),
  v.minLength(1, 'a name is expected'),
  mostCharacters(200),
);

const HOST = `${HOST_PATTERN}[.]?(?::${PORT_PATTERN})?`;
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
);

/** Public keys are some hundred characters. */
export const keyText = v.pipe(
  v.string(),
  mostCharacters(1024),
  v.regex(/^[\n\r\x20-\x7e]+$/, 'the text of a public key is expected'),
);
