import { describe, expect, test } from 'vitest';
import { createRouteMatcher, OTHER_ROUTE, ROUTES } from '../../../src/features/forge/routes.ts';

const match = createRouteMatcher('documented');

test('the table holds the 44 documented operations', () => {
  expect(ROUTES).toHaveLength(44);
  expect(new Set(ROUTES.map(({ method, pattern }) => `${method} ${pattern}`)).size).toBe(44);
});

test.each(ROUTES.map((route) => [route.method, route.pattern, route] as const))(
  '%s %s is found by a path of its form',
  (method, pattern, route) => {
    const path = pattern
      .replace('{index}.{diffType}', '7.diff')
      .replace(/\{(?:index|id)\}/g, '7')
      .replace(/\{\w+\.\.\.\}/, 'a/b')
      .replace(/\{\w+\??\}/g, 'x');
    expect(match(method, path)).toBe(route);
  },
);

test.each([
  ['GET', '/repos/o/r/raw/a%2Fb', '/repos/{owner}/{repo}/raw/{filepath...}'],
  ['GET', '/repos/o/r/contents', '/repos/{owner}/{repo}/contents'],
  ['GET', '/repos/o/r//contents//', '/repos/{owner}/{repo}/contents'],
  ['GET', '/repos/o/r/contents/./x', '/repos/{owner}/{repo}/contents/{filepath...}'],
  ['HEAD', '/repos/o/r/raw/x', '/repos/{owner}/{repo}/raw/{filepath...}'],
  ['OPTIONS', '/repos/o/r/wiki/new', '/repos/{owner}/{repo}/wiki/new'],
  ['GET', '/repos/o/r/wiki/page/a%2Fb%252F+;:.', '/repos/{owner}/{repo}/wiki/page/{pageName}'],
  ['GET', '/repos/o/r/wiki/revisions/', '/repos/{owner}/{repo}/wiki/revisions/{pageName?}'],
  ['GET', '/repos/o/r/pulls/main/u:feature/x', '/repos/{owner}/{repo}/pulls/{base}/{head...}'],
  ['GET', '/repos/o/r/pulls/main/u/r:feature', '/repos/{owner}/{repo}/pulls/{base}/{head...}'],
  ['GET', '/repos/o/r/pulls/7.patch', '/repos/{owner}/{repo}/pulls/{index}.{diffType}'],
])('%s %s means %s', (method, path, pattern) => {
  expect(match(method, path)?.pattern).toBe(pattern);
});

test.each([
  ['GET', '/version'],
  ['GET', ''],
  ['GET', '/'],
  ['GET', '/admin/users'],
  ['GET', '/repos/o/r'],
  ['GET', '/repos/o/r/media/x'],
  ['GET', '/repos/./r/contents'],
  ['GET', '/repos/%2e/r/contents'],
  ['GET', '/repos/o/r/editorconfig/a/b'],
  ['GET', '/repos/o/r/wiki/new'],
  ['DELETE', '/repos/o/r/raw/x'],
  ['POST', '/repos/o/r/contents'],
  ['GET', '/%72epos/o/r/contents'],
  ['GET', '/users/u/tokens/t'],
  ['TRACE', '/repos/o/r/contents'],
  ['get', '/repos/o/r/contents'],
  ['GET', '/__proto__/x'],
])('%s %s is not documented', (method, path) => {
  expect(match(method, path)).toBeUndefined();
});

test('expose all opens the rest below the root, but no method that makes a tunnel or mirrors the request', () => {
  const all = createRouteMatcher('all');
  expect(all('GET', '/version')).toBe(OTHER_ROUTE);
  expect(all('GET', '/repos/o/r/contents')?.pattern).toBe('/repos/{owner}/{repo}/contents');
  expect(all('TRACE', '/version')).toBeUndefined();
  expect(all('CONNECT', '/version')).toBeUndefined();
});

describe('expose read', () => {
  const read = createRouteMatcher('read');

  test.each([
    '',
    '/version',
    '/user',
    '/repos/o/r',
    '/repos/o/r/issues',
    '/repos/search',
    '/administrators',
  ])('opens %s for reading, and for nothing else', (path) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) expect(read(method, path)).toBe(OTHER_ROUTE);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT']) {
      expect(read(method, path)).toBeUndefined();
    }
  });

  test('keeps what is documented as it is', () => {
    expect(read('GET', '/repos/o/r/contents')?.pattern).toBe('/repos/{owner}/{repo}/contents');
    expect(read('POST', '/repos/o/r/pulls')?.pattern).toBe('/repos/{owner}/{repo}/pulls');
  });

  test.each([
    '/admin',
    '/admin/users',
    '//admin',
    '/./admin',
    '/Admin',
    '/%61dmin',
    '/%2561dmin',
    '/%2Fadmin',
    '/%2e/admin',
    '/admin;x',
    '/admin%3Fx',
    '/admin%2523x',
    '/%20admin',
    '/admin%09',
    '/admin%0d%0a',
    '/admin.',
    '/%5cadmin',
  ])("does not open the forge's administration: %s", (path) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) expect(read(method, path)).toBeUndefined();
  });
});
