import { decodings } from './target.ts';

/**
 * What an operation touches: `read` changes nothing, `write` does, `credentials` carries secrets in
 * its answers and is never stored.
 */
export type Need = 'read' | 'write' | 'credentials';

/** One operation of the documented interface. */
export interface Route {
  method: string;
  /**
   * Below the API root: `{name}` is one segment, `{name...}` the rest with its slashes, `{name?}`
   * may be left out. Also the label in metrics and logs.
   */
  pattern: string;
  needs: Need;
}

/**
 * Every path below the API root that the documented table does not name; reached only with
 * `forge.expose read` or `all`. Its answers may hold secrets, such as a runner's token.
 */
export const OTHER_ROUTE: Route = { method: '*', pattern: 'other', needs: 'credentials' };

const REPO = '/repos/{owner}/{repo}';
const PULL = `${REPO}/pulls/{index}`;
const REVIEW = `${PULL}/reviews/{id}`;

/** The 44 documented operations; if two patterns fit, the earlier one is meant. */
export const ROUTES: readonly Route[] = [
  read(`${REPO}/raw/{filepath...}`),
  read(`${REPO}/archive/{archive...}`),
  read(`${REPO}/editorconfig/{filepath}`),
  read(`${REPO}/contents`),
  read(`${REPO}/contents/{filepath...}`),
  write('POST', `${REPO}/contents/{filepath...}`),
  write('PUT', `${REPO}/contents/{filepath...}`),
  write('DELETE', `${REPO}/contents/{filepath...}`),

  write('POST', `${REPO}/wiki/new`),
  write('PATCH', `${REPO}/wiki/page/{pageName}`),
  write('DELETE', `${REPO}/wiki/page/{pageName}`),
  read(`${REPO}/wiki/pages`),
  read(`${REPO}/wiki/page/{pageName}`),
  read(`${REPO}/wiki/revisions/{pageName?}`),

  read(`${REPO}/pulls`),
  read(`${REPO}/pulls/{index}.{diffType}`),
  read(PULL),
  read(`${PULL}/merge`),
  read(`${PULL}/commits`),
  read(`${PULL}/files`),
  read(`${PULL}/reviews`),
  write('POST', `${REPO}/pulls`),
  write('PATCH', PULL),
  write('POST', `${PULL}/merge`),
  write('DELETE', `${PULL}/merge`),
  write('POST', `${PULL}/update`),

  write('POST', `${PULL}/reviews`),
  read(REVIEW),
  write('POST', REVIEW),
  write('DELETE', REVIEW),
  read(`${REVIEW}/comments`),
  write('POST', `${REVIEW}/dismissals`),
  write('POST', `${REVIEW}/undismissals`),
  write('POST', `${PULL}/requested_reviewers`),
  write('DELETE', `${PULL}/requested_reviewers`),

  // The head is a branch, `owner:branch` or `owner/repo:branch`: the last so that the fixed words
  // under a number win.
  read(`${REPO}/pulls/{base}/{head...}`),

  credentials('GET', '/users/{username}/tokens'),
  credentials('POST', '/users/{username}/tokens'),
  credentials('DELETE', '/users/{username}/tokens/{token}'),
  credentials('POST', '/user/applications/oauth2'),
  credentials('GET', '/user/applications/oauth2'),
  credentials('GET', '/user/applications/oauth2/{id}'),
  credentials('PATCH', '/user/applications/oauth2/{id}'),
  credentials('DELETE', '/user/applications/oauth2/{id}'),
];

/** `forge.expose`. */
export type Expose = 'documented' | 'read' | 'all';

/** Finds the operation that a method and a raw path below the API root mean. */
export type RouteMatcher = (method: string, path: string) => Route | undefined;

/**
 * Builds the matcher. It works on the path as sent, so that `%2F`, `%252F`, `+`, `;` and `:` stay
 * within their segment. Repeated slashes and one at the end count as the forge counts them
 * (docs/reference/forge.md); what is sent on keeps them. HEAD goes where GET may go, and OPTIONS
 * (a CORS preflight) wherever any method may.
 */
export function createRouteMatcher(expose: Expose): RouteMatcher {
  const groups = new Map<string, CompiledRoute[]>();
  for (const route of ROUTES) {
    const compiled = { route, pattern: splitPath(route.pattern).map(compileSegment) };
    const key = groupOf(splitPath(route.pattern));
    groups.set(key, [...(groups.get(key) ?? []), compiled]);
  }
  return (method, path) => {
    const segments = splitPath(path);
    for (const { route, pattern } of groups.get(groupOf(segments)) ?? []) {
      if (isMethodOf(route, method) && matches(pattern, segments)) return route;
    }
    return isExposed(expose, method, path) ? OTHER_ROUTE : undefined;
  };
}

/**
 * CONNECT and TRACE never pass: the one makes a tunnel, the other would show the device's token to
 * the caller.
 */
const PASSED_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const READING_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether an operation that is not documented may be reached. */
function isExposed(expose: Expose, method: string, path: string): boolean {
  if (expose === 'all') return PASSED_METHODS.has(method);
  return expose === 'read' && READING_METHODS.has(method) && !isAdminPath(path);
}

/**
 * Whether a path lies at or below `/admin`, the forge's administration, for anybody on the way who
 * decodes it, once or more often, reads it anew then, or takes out dots, path parameters, and
 * blanks or dots at the ends of a segment.
 */
export function isAdminPath(path: string): boolean {
  return decodings(path).some((text) => {
    const segments = text.split(/[/\\]/).map(plainSegment);
    return segments.find((segment) => segment !== '')?.toLowerCase() === 'admin';
  });
}

function plainSegment(segment: string): string {
  return segment.replace(/[;?#].*$/s, '').replace(/^\s+|[\s.]+$/g, '');
}

interface CompiledRoute {
  route: Route;
  pattern: SegmentPattern[];
}

type SegmentPattern =
  { kind: 'literal'; text: string } | { kind: 'segment' | 'diff' | 'rest' | 'optional' };

function compileSegment(text: string): SegmentPattern {
  if (text === '{index}.{diffType}') return { kind: 'diff' };
  if (text.endsWith('...}')) return { kind: 'rest' };
  if (text.endsWith('?}')) return { kind: 'optional' };
  return text.startsWith('{') ? { kind: 'segment' } : { kind: 'literal', text };
}

function matches(pattern: SegmentPattern[], segments: string[]): boolean {
  const last = pattern.at(-1)?.kind;
  if (last === 'rest' ? segments.length < pattern.length : segments.length > pattern.length) {
    return false;
  }
  for (let index = 0; index < pattern.length; index += 1) {
    const expected = pattern[index];
    if (expected === undefined || !fits(expected, segments[index])) return false;
  }
  return true;
}

function fits(expected: SegmentPattern, segment: string | undefined): boolean {
  if (segment === undefined) return expected.kind === 'optional';
  if (expected.kind === 'literal') return segment === expected.text;
  if (expected.kind === 'diff') return /^\d+\.(?:diff|patch)$/.test(segment);
  return expected.kind === 'rest' || !isDot(segment);
}

/**
 * A `.` segment vanishes if somebody on the way normalises, and the rest would then mean another
 * operation.
 */
function isDot(segment: string): boolean {
  return segment === '.' || /^%2e$/i.test(segment);
}

/**
 * The first word that tells operations apart: all below /repos/{owner}/{repo} by the word behind
 * it.
 */
function groupOf(segments: string[]): string {
  return (segments[0] === 'repos' ? segments[3] : segments[0]) ?? '';
}

function splitPath(path: string): string[] {
  const segments = path.slice(1).split('/');
  return segments.includes('') ? segments.filter((segment) => segment !== '') : segments;
}

function isMethodOf(route: Route, method: string): boolean {
  return (
    route.method === method || method === 'OPTIONS' || (method === 'HEAD' && route.method === 'GET')
  );
}

function read(pattern: string): Route {
  return { method: 'GET', pattern, needs: 'read' };
}

function write(method: string, pattern: string): Route {
  return { method, pattern, needs: 'write' };
}

function credentials(method: string, pattern: string): Route {
  return { method, pattern, needs: 'credentials' };
}
