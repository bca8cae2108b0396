import { expect, test } from 'vitest';
import { requestHeaders, responseHeaders } from '../../../src/features/forge/headers.ts';
import { rewritePagingLinks } from '../../../src/features/forge/link.ts';
import { parseResponseHead } from '../../../src/features/forge/upstream/response-head.ts';
import { processorMs } from '../../support/processor-time.ts';

const view = (): { apiRoot: string; origin: string } => ({
  apiRoot: '/api/v1',
  origin: 'http://nas/cgi-bin/panel',
});

test('unknown and caller headers pass in order, spelling and number', () => {
  const lines = [
    ...['X-Gitea-OTP', '1', 'x-sourcecontrol-otp', '2', 'Sudo', 'u'],
    ...['Authorization', 'Basic eA==', 'Accept-Language', 'de'],
    ...['X-New', '\xe4 ', 'X-New', 'b', 'Origin', 'http://x'],
  ];
  expect(requestHeaders(lines)).toEqual(lines);
});

test.each([
  [
    'hop-by-hop fields (RFC 9110, 7.6.1)',
    [
      'Connection',
      'keep-alive',
      'Keep-Alive',
      '1',
      'TE',
      'trailers',
      'Trailer',
      'x',
      'Transfer-Encoding',
      'chunked',
      'Upgrade',
      'h2c',
      'Proxy-Authorization',
      'x',
      'Proxy-Connection',
      'x',
    ],
  ],
  ['what Connection names', ['Connection', 'close, X-Secret , Sudo', 'X-Secret', '1', 'sudo', 'u']],
  [
    'identity (CVE-2023-37265)',
    [
      'X-WEBAUTH-USER',
      'root',
      'x-webauth-email',
      'x',
      'X-Forwarded-For',
      '1',
      'X-Forwarded-Host',
      'x',
      'X-FORWARDED-USER',
      'x',
      'X-Real-IP',
      '1',
      'Forwarded',
      'for=1',
    ],
  ],
  [
    'identity written with _',
    [
      'X_WEBAUTH_USER',
      'root',
      'X-Forwarded_For',
      '1',
      'X_Real_IP',
      '1',
      'Transfer_Encoding',
      'chunked',
    ],
  ],
  [
    'the panel session and token',
    [
      'Cookie',
      'sysauth=1; sysauth_http=2; depotd_session=3',
      'X-CSRF-Token',
      't',
      'X_CSRF_Token',
      't',
    ],
  ],
  [
    'framing, which is written afresh',
    ['Host', 'nas', 'Content-Length', '3', 'Expect', '100-continue'],
  ],
])('never goes upstream: %s', (_, lines) => {
  expect(requestHeaders(lines)).toEqual([]);
});

test('of header names with _ one that collides with a header of the request is left out, any other passes', () => {
  expect(requestHeaders(['X-A-B', '1', 'x_a-b', '2', 'X_Other', '3'])).toEqual([
    'X-A-B',
    '1',
    'X_Other',
    '3',
  ]);
});

test.each([
  ['Cookie', 'a=1; sysauth_https=x'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['x-method-override', 'DELETE'],
  ['X_HTTP_Method', 'DELETE'],
  ['X-Original-URL', '/admin'],
  ['X-Rewrite-URL', '/admin'],
])('%s does not go to the forge', (name, value) => {
  expect(requestHeaders([name, value, 'X-New', 'b'])).toEqual(['X-New', 'b']);
});

test("a Referer from the panel loses the panel's token", () => {
  const value = 'http://nas/cgi-bin/luci/;stok=0123/admin/store?token=t&page=2';
  expect(requestHeaders(['Referer', value])).toEqual([
    'Referer',
    'http://nas/cgi-bin/luci//admin/store?page=2',
  ]);
});

const JSON_TYPE = ['Content-Type', 'application/json;charset=utf-8'];

test('answers lose hop-by-hop fields, cookies and what counts for the origin', () => {
  const kept = [
    ...JSON_TYPE,
    ...['Access-Control-Expose-Headers', 'X-Page'],
    ...['X-Frame-Options', 'SAMEORIGIN'],
  ];
  const lost = [
    ...['Connection', 'X-Hop', 'X-Hop', '1', 'Keep-Alive', 'timeout=5'],
    ...['Transfer-Encoding', 'chunked', 'Set-Cookie', 'sysauth_http=evil; Path=/'],
    ...['Set-Cookie', 'a=1', 'Set-Cookie', `b=${'x'.repeat(4000)}; Path=/`],
    ...['Clear-Site-Data', '"*"', 'service-worker-allowed', '/'],
    ...['Access-Control-Allow-Origin', '*', 'Access-Control-Allow-Credentials', 'true'],
    ...['Access-Control-Allow-Methods', 'PUT', 'Access-Control-Allow-Headers', 'Authorization'],
    ...['Access-Control-Max-Age', '600', 'Access-Control-Allow-Private-Network', 'true'],
    ...['Strict-Transport-Security', 'max-age=1', 'alt-svc', 'h3=":443"'],
    ...[
      'NEL',
      '{"report_to":"x"}',
      'Report-To',
      '{}',
      'Accept-CH',
      'DPR',
      'Set-Login',
      'logged-in',
    ],
    ...['Origin-Agent-Cluster', '?1', 'Public-Key-Pins', 'x', 'Reporting-Endpoints', 'x="/y"'],
  ];
  expect(responseHeaders([...lost, ...kept], { status: 200, view })).toEqual(kept);
});

test.each([
  ['WWW-Authenticate', 'Basic realm="panel"'],
  ['Proxy-Authenticate', 'Basic'],
  ['Refresh', '0; url=http://evil'],
  ['Speculation-Rules', '"/rules.json"'],
  ['X-LuCI-Login-Required', 'yes'],
  ['X-Depotd-Error', 'x'],
  ['X-Accel-Redirect', '/etc/shadow'],
  ['X-Sendfile', '/etc/shadow'],
  ['X-SourceMap', '/map'],
  ['SourceMap', '/map'],
  ['Content-Security-Policy-Report-Only', 'report-uri /x'],
  ['Permissions-Policy', 'x'],
  ['Something-New', 'x'],
])('the answer header %s does not speak in the panel\u2019s name', (name, value) => {
  const kept = [...JSON_TYPE, 'X-Total-Count', '2'];
  expect(responseHeaders([name, value, ...kept], { status: 401, view })).toEqual(kept);
});

test.each([
  ['Link', '</cgi-bin/luci/admin/logout>; rel=preload; as=image', undefined],
  ['Link', '</x>; rel="prefetch"', undefined],
  ['Link', '</x>; rel=next; rel=preload', undefined],
  ['Link', '</x>; rel="next preload"', undefined],
  ['Link', '</x>; title="<y>; rel=next"; rel=modulepreload', undefined],
  ['Link', '</x', undefined],
  ['Link', '>; rel=preload; as=image', undefined],
  ['Link', '</x>; rel=stylesheet, </a>; rel="immutable"', '</a>; rel="immutable"'],
  ['Content-Security-Policy', 'report-uri /cgi-bin/luci/', undefined],
  [
    'Content-Security-Policy',
    "default-src 'none'; Report-URI /x; sandbox, report-to y;img-src *",
    "default-src 'none';; sandbox,;img-src *",
  ],
])('no browser asks or reports in the panel\u2019s name for %s: %s', (name, value, passed) => {
  const back = responseHeaders([...JSON_TYPE, name, value], { status: 200, view });
  expect(back).toEqual([...JSON_TYPE, ...(passed === undefined ? [] : [name, passed])]);
});

test.each([
  ['text/html; charset=utf-8', 200, true],
  ['image/svg+xml', 206, true],
  ['TEXT/HTML', 200, true],
  ['text/html', 404, true],
  ['text/html', 502, true],
  ['application/xhtml+xml', 200, true],
  ['text/xml', 200, true],
  ['application/xml; charset=utf-8', 500, true],
  ['application/rss+xml', 200, true],
  ['text/plain, text/html', 200, true],
  // Browsers take the last type of a list (Fetch standard, extract a MIME type).
  ['text/plain;, text/html', 200, true],
  ['application/json; a=b,text/html', 200, true],
  ['image/png;x=",\ttext/html', 200, true],
  ['text/plain\u00a0; charset=utf-8', 200, true],
  ['video/x+xml', 200, true],
  ['font/x+XML; charset=utf-8', 200, true],
  ['multipart/x-mixed-replace; boundary=x', 200, true],
  ['application/x-never-heard-of', 200, true],
  ['', 200, true],
  ['*/*', 200, true],
  ['text/plain; charset=utf-8', 200, false],
  ['application/json;charset=utf-8', 200, false],
  ['application/problem+json', 404, false],
  ['application/octet-stream', 200, false],
  ['application/gzip', 200, false],
  ['image/png', 200, false],
])(
  'what a browser might run script in is sandboxed: "%s" with status %d',
  (type, status, isAdded) => {
    const lines = ['Content-Type', type, 'Content-Security-Policy', "default-src 'none'"];
    const added = isAdded ? ['Content-Security-Policy', 'sandbox'] : [];
    expect(responseHeaders(lines, { status, view })).toEqual([...lines, ...added]);
  },
);

test.for([
  ['a body of no type', 200, ['Content-Length', '3'], true],
  ['a body of two types', 200, ['Content-Type', 'text/plain', 'content-type', 'text/html'], true],
  ['no body', 200, ['Content-Length', '0'], false],
  ['no body, by its status', 204, [], false],
  ['no news', 304, ['ETag', '"1"'], false],
] as const)(
  'an answer with %s is sandboxed only if there may be script',
  ([, status, lines, isAdded]) => {
    const added = isAdded ? ['Content-Security-Policy', 'sandbox'] : [];
    expect(responseHeaders([...lines], { status, view })).toEqual([...lines, ...added]);
  },
);

test.each([
  [
    '<https://h/git/api/v1/repos/o/r/pulls?limit=1&page=2>; rel="next",<https://h/git/api/v1/repos/o/r/pulls?limit=1&page=9>; rel="last"',
    '<http://nas/cgi-bin/panel/api/v1/repos/o/r/pulls?limit=1&page=2>; rel="next",<http://nas/cgi-bin/panel/api/v1/repos/o/r/pulls?limit=1&page=9>; rel="last"',
  ],
  ['</api/v1/x?page=1>; rel=prev', '<http://nas/cgi-bin/panel/api/v1/x?page=1>; rel=prev'],
  [
    '<https://h/api/v1/repos/o/r/archive/c.tar.gz?rev=c>; rel="immutable"',
    '<https://h/api/v1/repos/o/r/archive/c.tar.gz?rev=c>; rel="immutable"',
  ],
  ['<https://elsewhere/x?u=/api/v1/>; rel="next"', '<https://elsewhere/x?u=/api/v1/>; rel="next"'],
  ['nonsense', 'nonsense'],
])('a Link is rewritten to this host when it is paging: %s', (value, expected) => {
  expect(rewritePagingLinks(value, view())).toBe(expected);
});

test('a Link of many halves is read as fast as another one', () => {
  const spentMs = processorMs(() => rewritePagingLinks(`${'<'.repeat(65_000)}>`, view()));

  expect(spentMs).toBeLessThan(500);
});

test('an answer keeps the last byte of a value, though it looks like a space of another kind', () => {
  expect(parseResponseHead('HTTP/1.1 200 OK\r\nX-Name: caf\xc3\xa0 \t\r\n', 'GET')).toMatchObject({
    headers: ['X-Name', 'caf\xc3\xa0'],
  });
});

test.each([
  ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2', 'Content-Length'],
  ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1', 'Content-Length'],
  ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked', 'both'],
  ['HTTP/1.1 200 OK\r\nContent-Length: -1', 'Content-Length'],
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked', 'Transfer-Encoding'],
  ['HTTP/1.1 200 OK\r\nX : 1', 'header line'],
  ['HTTP/1.1 200 OK\r\nX: 1\r\n folded', 'header line'],
  ['HTTP/1.1 200 OK\r\nX: a\nY: b', 'header line'],
  ['HTTP/2 200 OK', 'status line'],
  ['HTTP/1.1 999 OK', 'status line'],
  ['<html>', 'status line'],
])('an answer head that could be read in two ways is refused: %j', (text, part) => {
  expect(parseResponseHead(`${text}\r\n`, 'GET')).toContain(part);
});
