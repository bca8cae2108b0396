import type { HeaderLines } from './header-lines.ts';
import { rewritePagingLinks } from './link.ts';
import { withoutPanelParameters } from './target.ts';

/**
 * Fields that end at each hop (RFC 9110, section 7.6.1), or that frame the message and are
 * therefore written afresh.
 */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-connection',
  'proxy-authorization',
]);

/**
 * What never goes upstream beside those: framing and `Host` are the proxy's own, identity may be
 * claimed by nobody, the token is the panel's.
 */
const NOT_UPSTREAM = new Set([
  'host',
  'content-length',
  'expect',
  'http2-settings',
  'forwarded',
  'x-real-ip',
  'x-csrf-token',
  'proxy-authenticate',
]);
const NOT_UPSTREAM_PREFIXES = ['x-forwarded-', 'x-webauth-'];

/**
 * The end-to-end headers of a request, each byte as sent, in their order. Left out: hop-by-hop
 * fields and those that `Connection` names, identity headers, and the panel's cookies and token. A
 * name with `_` is read as one with `-` by CGI-like programs, so it is left out wherever that name
 * is one of ours or one that the request has too.
 */
export function requestHeaders(lines: HeaderLines): HeaderLines {
  const named = namedByConnection(lines);
  const kept: HeaderLines = [];
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const name = lines[index] ?? '';
    const lower = name.toLowerCase();
    if (isDropped(lower, named) || (lower.includes('_') && isDisguise(lower, lines))) continue;
    const value = passedValue(lower, lines[index + 1] ?? '');
    if (value !== undefined) kept.push(name, value);
  }
  return kept;
}

function isDropped(name: string, named: Set<string> | undefined): boolean {
  if (isHopByHop(name, named) || NOT_UPSTREAM.has(name)) return true;
  return (
    name.charCodeAt(0) === 0x78 && NOT_UPSTREAM_PREFIXES.some((prefix) => name.startsWith(prefix))
  );
}

function isHopByHop(name: string, named: Set<string> | undefined): boolean {
  return HOP_BY_HOP.has(name) || named?.has(name) === true;
}

const SECRET_NAMES = new Set(['authorization', 'cookie', 'sudo', 'referer']);

function isDisguise(name: string, lines: HeaderLines): boolean {
  const plain = name.replaceAll('_', '-');
  return (
    isDropped(plain, undefined) ||
    SECRET_NAMES.has(plain) ||
    lines.some((line, index) => index % 2 === 0 && line.toLowerCase() === plain)
  );
}

/** @returns undefined if nothing is left of the header */
function passedValue(name: string, value: string): string | undefined {
  if (name === 'cookie') return withoutPanelCookies(value);
  return name === 'referer' ? withoutPanelToken(value) : value;
}

/** The names that `Connection` lists; undefined for the usual values, which name no header. */
function namedByConnection(lines: HeaderLines): Set<string> | undefined {
  let named: Set<string> | undefined;
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const name = lines[index] ?? '';
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue;
    const value = (lines[index + 1] ?? '').toLowerCase();
    if (value === 'keep-alive' || value === 'close') continue;
    named = new Set([...(named ?? []), ...value.split(',').map((option) => option.trim())]);
  }
  return named;
}

/**
 * The panel's session cookies: `sysauth`, `sysauth_http`, `sysauth_https`, and the daemon's own.
 */
const PANEL_COOKIE = /^(?:sysauth\w*|depotd_session)$/i;

function withoutPanelCookies(value: string): string | undefined {
  const cookies = value.split(';');
  const kept = cookies.filter((cookie) => !isPanelCookie(cookie));
  if (kept.length === cookies.length) return value;
  const rest = kept.join(';').trimStart();
  return rest === '' ? undefined : rest;
}

/**
 * A cookie without a name comes back as its value alone, which may then look like name and value
 * (RFC 6265bis, section 5.8.3).
 */
function isPanelCookie(cookie: string): boolean {
  const name = cookie.replace(/^[\s=]+/, '').split(/[=;]/, 1)[0] ?? '';
  return PANEL_COOKIE.test(name.trim());
}

/**
 * A page of the panel has the token in its address: as a parameter, or as `;stok=…` in the path
 * of older panels.
 */
function withoutPanelToken(referer: string): string {
  const plain = referer.replace(/;stok=[^/?#;]*/gi, '');
  const mark = plain.indexOf('?');
  return mark === -1 ? plain : plain.slice(0, mark) + withoutPanelParameters(plain.slice(mark));
}

/** How the caller reached this host; what paging links must lead back to. */
export interface CallerView {
  apiRoot: string;
  /** Scheme, host and mount, such as `http://nas/cgi-bin/panel`. */
  origin: string;
}

/**
 * The headers of an answer, each byte as it came and in its order. Left out: hop-by-hop fields,
 * cookies that would take the place of the panel's, and what would give pages of another origin, or
 * the forge, a say over the panel's origin. Paging links lead to this host. Whatever a browser
 * might run script in gets a sandbox: it is shown from the panel's own origin.
 */
export function responseHeaders(
  lines: HeaderLines,
  { status, view }: { status: number; view: () => CallerView },
): HeaderLines {
  const named = namedByConnection(lines);
  const kept: HeaderLines = [];
  let content: Content = status === 204 || status === 304 ? 'empty' : 'unknown';
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const name = lines[index] ?? '';
    const value = lines[index + 1] ?? '';
    const lower = lowerIfKnown(name, named);
    if (lower !== '' && isDroppedFromAnswer(lower, value, named)) continue;
    if (lower.startsWith('content-')) content = contentAfter(content, lower, value);
    kept.push(name, lower === 'link' ? rewritePagingLinks(value, view()) : value);
  }
  if (content === 'active' || content === 'unknown') {
    kept.push('Content-Security-Policy', 'sandbox');
  }
  return kept;
}

/** What a browser may make of a body. `unknown`: there is one, of no type. */
type Content = 'unknown' | 'empty' | 'inert' | 'active';

function contentAfter(before: Content, name: string, value: string): Content {
  if (name === 'content-length') return value === '0' && before === 'unknown' ? 'empty' : before;
  if (name !== 'content-type' || before === 'active') return before;
  return INERT_TYPE.test(value) ? 'inert' : 'active';
}

function isDroppedFromAnswer(name: string, value: string, named: Set<string> | undefined): boolean {
  return isHopByHop(name, named) || OF_ORIGIN.has(name) || isPanelSetCookie(name, value);
}

/**
 * What counts for all of an origin (Clear Site Data; Service Workers; Network Error Logging, which
 * reports the panel's addresses; RFC 6797; RFC 7838), or opens it to others (Fetch standard, CORS).
 * `Access-Control-Expose-Headers` alone opens nothing.
 */
const OF_ORIGIN = new Set([
  'accept-ch',
  'alt-svc',
  'nel',
  'origin-agent-cluster',
  'public-key-pins',
  'report-to',
  'reporting-endpoints',
  'set-login',
  'strict-transport-security',
  'clear-site-data',
  'service-worker-allowed',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-private-network',
  'access-control-max-age',
]);

/**
 * The name in lower case; empty for a name of a length that none has which matters in an answer: it
 * passes as it is, which is quick to see.
 */
function lowerIfKnown(name: string, named: Set<string> | undefined): string {
  return named !== undefined || KNOWN_LENGTHS.has(name.length) ? name.toLowerCase() : '';
}

const KNOWN_LENGTHS = new Set(
  [...HOP_BY_HOP, ...OF_ORIGIN, 'set-cookie', 'content-type', 'content-length', 'link'].map(
    (name) => name.length,
  ),
);

/**
 * Types in which no browser runs script, or that it only saves. Not among them: HTML, SVG and XML,
 * and what a browser does not know, for it may guess.
 */
const INERT_TYPES = [
  String.raw`application/(?:json|[\w.-]+\+json|octet-stream|pdf|x-git[\w-]*)`,
  'application/(?:zip|gzip|x-gzip|x-tar|x-bzip2|x-xz|zstd)',
  'text/(?:plain|css|csv|markdown|javascript)',
  String.raw`(?:audio|video|font)/(?!.*\+xml)[\w.+-]+`,
  String.raw`image/(?!svg)[\w.-]+`,
];
/**
 * One type, and blanks as HTTP has them: of a list a browser takes the last that it can read (Fetch
 * standard, extract a MIME type), which may stand where another reader sees a parameter.
 */
const INERT_TYPE = new RegExp(
  String.raw`^[ \t]*(?:${INERT_TYPES.join('|')})[ \t]*(?:;[^,]*)?$`,
  'i',
);

function isPanelSetCookie(name: string, value: string): boolean {
  return name === 'set-cookie' && isPanelCookie(value);
}
