import type { HeaderLines } from './header-lines.ts';
import { rewritePagingLinks } from './link.ts';
import { splitQuery, withoutPanelParameters } from './target.ts';

/** Headers that end at each hop (RFC 9110, section 7.6.1), or frame the message: written afresh. */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-connection', 'proxy-authorization'],
]);

/**
 * What never goes upstream beside those: framing and `Host` are the proxy's own, identity may be
 * claimed by nobody, the token is the panel's, cookies are the panel's or another app's, and what
 * was judged here by method and path must not become another one there.
 */
const NOT_UPSTREAM = new Set([
  ...['host', 'content-length', 'expect', 'http2-settings', 'proxy-authenticate'],
  ...['cookie', 'x-csrf-token', 'forwarded', 'x-real-ip'],
  ...['x-http-method', 'x-http-method-override', 'x-method-override', 'x-original-method'],
  ...['x-original-uri', 'x-original-url', 'x-rewrite-url'],
]);
const NOT_UPSTREAM_PREFIXES = ['x-forwarded-', 'x-webauth-', 'x-depotd-'];

/**
 * The end-to-end headers of a request, each byte as sent, in their order. Left out: hop-by-hop
 * fields and those that `Connection` names, identity headers, cookies and the panel's token. A
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
    kept.push(name, passedValue(lower, lines[index + 1] ?? ''));
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

const SECRET_NAMES = new Set(['authorization', 'sudo', 'referer']);

function isDisguise(name: string, lines: HeaderLines): boolean {
  const plain = name.replaceAll('_', '-');
  return (
    isDropped(plain, undefined) ||
    SECRET_NAMES.has(plain) ||
    lines.some((line, index) => index % 2 === 0 && line.toLowerCase() === plain)
  );
}

function passedValue(name: string, value: string): string {
  if (name === 'accept') return value.replace(/;\s*depotd-key=[\w-]*/g, '');
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

/** A page of the panel has the token in its address: as a parameter, or `;stok=` in its path. */
function withoutPanelToken(referer: string): string {
  const [path, query] = splitQuery(referer.replace(/;stok=[^/?#;]*/gi, ''));
  return path + withoutPanelParameters(query);
}

/** How the caller reached this host; what paging links must lead back to. */
export interface CallerView {
  apiRoot: string;
  /** Scheme, host and mount, such as `http://nas/cgi-bin/panel`. */
  origin: string;
}

/**
 * The headers of an answer, each byte as it came and in its order. What is not known to be
 * harmless in the panel's origin is left out, as are hop-by-hop fields. Paging links lead to this
 * host. Whatever a browser
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
    const lower = name.toLowerCase();
    if (!isPassedBack(lower) || isHopByHop(lower, named)) continue;
    if (lower.startsWith('content-')) content = contentAfter(content, lower, value);
    const passed = valueBack(lower, value, view);
    if (passed !== undefined) kept.push(name, passed);
  }
  if (content === 'active' || content === 'unknown') {
    kept.push('Content-Security-Policy', 'sandbox');
  }
  return kept;
}

/** A policy of the forge's holds, but a browser reports nothing to whom it names. */
const REPORT = /(^|[;,])\s*report-(?:uri|to)(?=\s|[;,]|$)[^;,]*/gi;

/** A header's value on its way back. @returns undefined if nothing is left */
function valueBack(name: string, value: string, view: () => CallerView): string | undefined {
  if (name === 'link') return rewritePagingLinks(value, view()) || undefined;
  if (name === 'content-security-policy') return value.replace(REPORT, '$1') || undefined;
  return value;
}

/** What a browser may make of a body. `unknown`: there is one, of no type. */
type Content = 'unknown' | 'empty' | 'inert' | 'active';

function contentAfter(before: Content, name: string, value: string): Content {
  if (name === 'content-length') return value === '0' && before === 'unknown' ? 'empty' : before;
  if (name !== 'content-type' || before === 'active') return before;
  return INERT_TYPE.test(value) ? 'inert' : 'active';
}

/**
 * What describes a representation, its caching, paging, place or rate (RFC 9110, 9111, 5988, 9457),
 * and `X-` fields but for those that servers or browsers act on. Everything else could make a
 * browser ask, go, store or report in the panel's name: WWW-Authenticate, Refresh, Set-Cookie,
 * Clear-Site-Data, Speculation-Rules, the fields of CORS and their like.
 */
const PASSED_BACK = new Set([
  ...['content-type', 'content-length', 'content-range', 'content-encoding', 'content-language'],
  ...['content-disposition', 'content-location', 'content-digest', 'repr-digest', 'digest'],
  ...['cache-control', 'age', 'date', 'etag', 'expires', 'last-modified', 'pragma', 'vary'],
  ...['link', 'location', 'accept-ranges', 'allow', 'server', 'warning', 'no-gzip-compression'],
  ...['ratelimit', 'ratelimit-limit', 'ratelimit-policy', 'ratelimit-remaining', 'ratelimit-reset'],
  ...['retry-after', 'deprecation', 'sunset', 'referrer-policy', 'content-security-policy'],
  ...['access-control-expose-headers', 'cross-origin-resource-policy'],
]);
/** Headers of the panel's own name, and those that nginx, lighttpd, Apache or a browser act on. */
const ACTED_ON = new RegExp(
  `^x-(?:${[
    ...['luci', 'depotd', 'accel', 'sendfile', 'send-file', 'lighttpd', 'litespeed', 'reproxy'],
    ...['original', 'rewrite', 'http-method', 'method', 'forwarded', 'webauth', 'real-ip'],
    ...['sourcemap', 'dns-prefetch', 'ua-compatible', 'pingback'],
  ].join('|')})`,
);

function isPassedBack(name: string): boolean {
  return name.startsWith('x-') ? !ACTED_ON.test(name) : PASSED_BACK.has(name);
}

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
