/** For regular expressions without lookaround: clients of openapi.json have other engines. */

/** No hyphen at either end (RFC 1123, section 2.1); underscores occur in home networks. */
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
/**
 * What ends in a number is an IPv4 address or nothing (URL standard, "ends in a number"): the last
 * label has something that is no digit, behind 30 digits at most.
 */
const LAST_LABEL =
  '(?:[A-Za-z_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?' +
  '|[0-9]{1,30}(?:[A-Za-z_](?:[A-Za-z0-9_-]{0,31}[A-Za-z0-9_])?|-[A-Za-z0-9_-]{0,31}[A-Za-z0-9_]))';

/** RFC 3986, section 3.2.2. */
const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `${BYTE}(?:\\.${BYTE}){3}`;
const GROUP = '[0-9A-Fa-f]{1,4}';
const TAIL = `(?:${GROUP}:${GROUP}|${IPV4})`;

/** One for each number of groups before the `::`, and one without it. */
const IPV6 = [
  `(?:${GROUP}:){6}${TAIL}`,
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((before) => `${groups(before)}::${groupsBehind(7 - before)}`),
].join('|');

function groups(count: number): string {
  return count === 0 ? '' : `${GROUP}(?::${GROUP}){${count - 1}}`;
}

/** Groups of IPv6, none to that many; an IPv4 address at their end stands for two. */
function groupsBehind(most: number): string {
  if (most === 0) return '';
  if (most === 1) return `(?:${GROUP})?`;
  return `(?:${GROUP}(?::${GROUP}){0,${most - 1}}|(?:${GROUP}:){0,${most - 2}}${IPV4})?`;
}

/** A DNS name in ASCII, an IPv4 address, or an IPv6 address in brackets without zone. */
export const HOST_PATTERN = `(?:(?:${LABEL}\\.)*${LAST_LABEL}|${IPV4}|\\[(?:${IPV6})\\])`;

/** Ports of TCP: 0 to 65535. */
export const PORT_PATTERN =
  '(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4})';
