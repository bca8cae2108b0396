import { keep, readKept } from './kept.js';

/**
 * The second half of the session. The cookie goes with every request to this host, whatever the
 * port; this lies where pages of this very origin alone can read it.
 */
const NAME = `depotd-key:${new URL('.', location.href).pathname}`;
const PREFIX = '#key=';

/**
 * A log-in without its script hands the key over behind the `#`. It counts when the one that is
 * kept is refused: a link that somebody has made takes nobody's session away.
 */
let handedOver = location.hash.startsWith(PREFIX) ? location.hash.slice(PREFIX.length) : '';
if (handedOver !== '') history.replaceState(null, '', location.pathname + location.search);

/** CGI hands on a fixed list of fields, of which Accept is one. */
export function sessionHeaders() {
  const key = readKept(NAME);
  return key === '' ? {} : { 'x-depotd-key': key, accept: `*/*;depotd-key=${key}` };
}

/** Asks once more when there is another key by now: of this log-in, or of another tab's. */
export async function fetchInSession(address, options) {
  const key = readKept(NAME);
  const headers = sessionHeaders();
  const response = await fetch(address, { credentials: 'same-origin', ...options, headers });
  if (response.headers.get('x-luci-login-required') !== 'yes') return response;
  // A browser that keeps nothing for this page has no cookie for it either.
  if (handedOver !== '') keep(NAME, handedOver);
  handedOver = '';
  return readKept(NAME) === key ? response : fetchInSession(address, options);
}
