/**
 * What the schemas of the parameters check by functions, as regular expressions of ECMA-262 without
 * lookaround: other engines read them, too.
 */
const NAME = '[A-Za-z0-9][A-Za-z0-9.+_-]{0,127}';

/** Names of packages, separated by commas. */
export const PACKAGE_NAMES_PATTERN = `^(?:${NAME}(?:,${NAME})*)?$`;

const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
/** With something that is no digit: a name that ends in a number is none. */
const LAST_LABEL =
  '(?:[0-9]{0,62}[A-Za-z_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?' +
  '|[0-9]{1,61}-[A-Za-z0-9_-]{0,60}[A-Za-z0-9_])';

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

/** None to that many; an IPv4 address at their end stands for two. */
function groupsBehind(most: number): string {
  if (most === 0) return '';
  if (most === 1) return `(?:${GROUP})?`;
  return `(?:${GROUP}(?::${GROUP}){0,${most - 1}}|(?:${GROUP}:){0,${most - 2}}${IPV4})?`;
}

/**
 * Names of hosts. It lets through more than the schema in one respect: a last label of more than 63
 * characters that begins with digits.
 */
export const HOSTNAME_PATTERN = `^(?:(?:${LABEL}\\.)*${LAST_LABEL}|${IPV4}|\\[(?:${IPV6})\\])$`;
