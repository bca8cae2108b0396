import { decodings } from './target.ts';

/** One operation of the documented interface. */
export interface Route {
  method: string;
  /** `{name}` is a segment, `{name...}` the rest, `{name?}` optional. The label in metrics, too. */
  pattern: string;
  /** What openapi.json says of the route. */
  summary: string;
}

/**
 * Every path below the API root that the documented table does not name; reached only with
 * `forge.expose read` or `all`. Its answers may hold secrets, such as a runner's token.
 */
export const OTHER_ROUTE: Route = {
  method: '*',
  pattern: 'other',
  summary: 'Passed to the code forge as it is',
};

const REPO = '/repos/{owner}/{repo}';
const PULL = `${REPO}/pulls/{index}`;
const REVIEW = `${PULL}/reviews/{id}`;

/** The 44 documented operations; if two patterns fit, the earlier one is meant. */
export const ROUTES: readonly Route[] = [
  read(`${REPO}/raw/{filepath...}`, 'A file as it is'),
  read(`${REPO}/archive/{archive...}`, 'An archive of a branch, tag or commit'),
  read(`${REPO}/editorconfig/{filepath}`, 'What the editor configuration says of a file'),
  read(`${REPO}/contents`, 'What lies in the root'),
  read(`${REPO}/contents/{filepath...}`, 'A file with its content, or what lies in a folder'),
  write('POST', `${REPO}/contents/{filepath...}`, 'Create a file'),
  write('PUT', `${REPO}/contents/{filepath...}`, 'Change or move a file'),
  write('DELETE', `${REPO}/contents/{filepath...}`, 'Delete a file'),

  write('POST', `${REPO}/wiki/new`, 'Create a wiki page'),
  write('PATCH', `${REPO}/wiki/page/{pageName}`, 'Change or rename a wiki page'),
  write('DELETE', `${REPO}/wiki/page/{pageName}`, 'Delete a wiki page'),
  read(`${REPO}/wiki/pages`, 'The wiki pages'),
  read(`${REPO}/wiki/page/{pageName}`, 'A wiki page'),
  read(`${REPO}/wiki/revisions/{pageName?}`, 'The revisions of a wiki page'),

  read(`${REPO}/pulls`, 'The pull requests'),
  read(`${REPO}/pulls/{index}.{diffType}`, 'A pull request as diff or patch'),
  read(PULL, 'A pull request'),
  read(`${PULL}/merge`, 'Whether it is merged; 404 if not'),
  read(`${PULL}/commits`, 'Its commits'),
  read(`${PULL}/files`, 'The files that it changes'),
  read(`${PULL}/reviews`, 'Its reviews'),
  write('POST', `${REPO}/pulls`, 'Create a pull request'),
  write('PATCH', PULL, 'Change a pull request'),
  write('POST', `${PULL}/merge`, 'Merge a pull request'),
  write('DELETE', `${PULL}/merge`, 'Cancel a scheduled merge'),
  write('POST', `${PULL}/update`, 'Bring its branch up to date with the base'),

  write('POST', `${PULL}/reviews`, 'Create a review'),
  read(REVIEW, 'A review'),
  write('POST', REVIEW, 'Submit a pending review'),
  write('DELETE', REVIEW, 'Delete a review'),
  read(`${REVIEW}/comments`, "A review's comments"),
  write('POST', `${REVIEW}/dismissals`, 'Dismiss a review'),
  write('POST', `${REVIEW}/undismissals`, 'Undo the dismissal of a review'),
  write('POST', `${PULL}/requested_reviewers`, 'Ask for reviews'),
  write('DELETE', `${PULL}/requested_reviewers`, 'Ask for reviews no longer'),

  // `owner:branch` or `owner/repo:branch`, too: last, so that the fixed words under a number win.
  read(`${REPO}/pulls/{base}/{head...}`, 'The pull request of two branches'),

  read('/users/{username}/tokens', "The caller's access tokens, without their values"),
  write('POST', '/users/{username}/tokens', 'Create an access token'),
  write('DELETE', '/users/{username}/tokens/{token}', 'Delete an access token'),
  write('POST', '/user/applications/oauth2', 'Create an OAuth2 application'),
  read('/user/applications/oauth2', "The caller's OAuth2 applications"),
  read('/user/applications/oauth2/{id}', 'An OAuth2 application'),
  write(
    'PATCH',
    '/user/applications/oauth2/{id}',
    'Change an OAuth2 application; it gets a new secret',
  ),
  write('DELETE', '/user/applications/oauth2/{id}', 'Delete an OAuth2 application'),
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
  const groups = new Map<string, { route: Route; expression: RegExp }[]>();
  for (const route of ROUTES) {
    const key = groupOf(segmentsOf(route.pattern));
    const expression = expressionOf(route.pattern);
    groups.set(key, [...(groups.get(key) ?? []), { route, expression }]);
  }
  return (method, path) => {
    const segments = segmentsOf(path);
    const plain = `/${segments.join('/')}`;
    const found = groups
      .get(groupOf(segments))
      ?.find(({ route, expression }) => isMethodOf(route, method) && expression.test(plain));
    if (found !== undefined) return found.route;
    return isExposed(expose, method, path) ? OTHER_ROUTE : undefined;
  };
}

/** A `.` vanishes if somebody on the way normalises: the rest would mean another operation. */
const SEGMENT = String.raw`(?!(?:\.|%2[eE])(?:/|$))[^/]+`;

function expressionOf(pattern: string): RegExp {
  const source = pattern
    .replace('{index}.{diffType}', String.raw`\d+\.(?:diff|patch)`)
    .replace(/\{\w+\.{3}\}/, '.+')
    .replace(/\/\{\w+\?\}/, `(?:/${SEGMENT})?`)
    .replace(/\{\w+\}/g, SEGMENT);
  return new RegExp(`^${source}$`);
}

/** Methods passed on: not CONNECT, which makes a tunnel, nor TRACE, which would show the token. */
const PASSED_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Whether an operation that is not documented may be reached. */
function isExposed(expose: Expose, method: string, path: string): boolean {
  if (expose === 'all') return PASSED_METHODS.has(method);
  return expose === 'read' && isReading(method) && !isAdminPath(path);
}

export function isReading(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * Whether a path lies at or below the forge's `/admin`, for anybody on the way who decodes it, once
 * or more often, reads it anew then, or takes out dots, path parameters, and blanks or dots at the
 * ends of a segment.
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

/** The first word that tells operations apart: below /repos/{owner}/{repo} the one behind it. */
function groupOf(segments: string[]): string {
  return (segments[0] === 'repos' ? segments[3] : segments[0]) ?? '';
}

export function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function isMethodOf(route: Route, method: string): boolean {
  return (
    route.method === method || method === 'OPTIONS' || (method === 'HEAD' && route.method === 'GET')
  );
}

function read(pattern: string, summary: string): Route {
  return write('GET', pattern, summary);
}

function write(method: string, pattern: string, summary: string): Route {
  return { method, pattern, summary };
}
