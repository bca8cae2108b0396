import * as fc from 'fast-check';

export const COOKIE = 'PANELCOOKIEVALUE';
export const TOKEN = 'PANELTOKENVALUE';

const BASES = [
  '/repos/o/r/raw/a/b',
  '/repos/o/r/contents',
  '/repos/o/r/pulls/1/merge',
  '/repos/o/r/wiki/page/x',
  '/users/u/tokens',
  '/version',
  '/repos/o/r/archive/m.zip',
  '',
];
const PIECES = [
  '..',
  '%2e%2e',
  '%2E.',
  '.',
  '%2f',
  '%2F',
  '%5c',
  '\\',
  '/',
  '//',
  '%00',
  '%252e%252e%252f',
  '..;',
  ';',
  '#',
  '?',
  '%',
  '%zz',
  '@evil',
  ':80',
  '%c0%ae%c0%ae',
  '\t',
  '\x7f',
  '\xff',
  ' ',
  '*',
  '..%2f..%2f',
  '/../../../admin',
  '%0d%0aX:1',
  '/api/v1/',
];
const STARTS = [
  '/api/v1',
  '/api/v1',
  '/api/v1',
  '/cgi-bin/panel/api/v1',
  '/cgi-bin/panel/api/v1',
  'http://evil/api/v1',
  '//evil/api/v1',
  '/x/../api/v1',
  '/api/v1/..',
  '/API/v1',
  '/api%2fv1',
  '/api/v1%2f..',
  '/cgi-bin/panel/../api/v1',
];
const QUERIES = [
  '',
  '',
  `?token=${TOKEN}`,
  `?a=1&token=${TOKEN}&b`,
  `?_t=${TOKEN}`,
  `?%74oken=${TOKEN}`,
  `?a;token=${TOKEN}`,
  `?&&token=${TOKEN}&`,
  `?x=1&tok%65n=${TOKEN};y`,
  '?ref=../..',
  `?token=${TOKEN}#x`,
  `?token=${TOKEN}&token=${TOKEN}`,
];
const METHODS = [
  ...Array.from({ length: 6 }, () => 'GET'),
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'FOO',
];
const HEADERS = [
  `Cookie: sysauth_http=${COOKIE}`,
  `Cookie: a=1; sysauth=${COOKIE}; b=2`,
  `Cookie:sysauth_https=${COOKIE};`,
  `COOKIE: ;; SysAuth_HTTP=${COOKIE} ; x`,
  `cookie: depotd_session=${COOKIE}`,
  `Cookie: x;sysauth_http =${COOKIE}`,
  `X-CSRF-Token: ${TOKEN}`,
  `X_CSRF_Token: ${TOKEN}`,
  `x-csrf_token: ${TOKEN}`,
  'C_ookie: x',
  `Referer: http://nas/cgi-bin/luci/;stok=${TOKEN}/x?token=${TOKEN}`,
  `REFERER: /x?a&_t=${TOKEN}`,
  'X-WEBAUTH-USER: FORGED',
  'X_WEBAUTH_USER: FORGED',
  'x-webauth-email: FORGED',
  'X-Forwarded-For: FORGED',
  'X-Forwarded-User: FORGED',
  'X_Forwarded-Host: FORGED',
  'X-Real-IP: FORGED',
  'Forwarded: for=FORGED',
  'Connection: keep-alive, X-Forwarded-For, Cookie',
  'Connection: Host, Content-Length',
  'Connection: close',
  'Transfer-Encoding : chunked',
  'Content-Length: 0',
  'Transfer-Encoding: chunked',
  'Upgrade: websocket',
  'Te: trailers',
  'Accept: application/json',
  'If-None-Match: "x"',
  'X-Empty:',
  'X-Blanks: \t a b \t ',
  'X-Latin: \xe9\xff',
  `X-Long: ${'x'.repeat(3000)}`,
];

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  piece: fc.constantFrom(...PIECES),
  replaces: fc.boolean(),
});

const target = fc
  .tuple(
    fc.constantFrom(...STARTS),
    fc.constantFrom(...BASES),
    fc.array(edit, { maxLength: 3 }),
    fc.constantFrom(...QUERIES),
  )
  .map(([start, base, edits, query]) =>
    edits
      .reduce((text, { at, piece, replaces }) => {
        const position = Math.floor(at * text.length);
        return text.slice(0, position) + piece + text.slice(replaces ? position + 1 : position);
      }, start + base)
      .concat(query),
  );

/** One request for the forge as a caller with bad intentions writes it, in latin1. */
export const forgeMessage = fc
  .tuple(
    fc.constantFrom(...METHODS),
    target,
    fc.array(fc.constantFrom(...HEADERS), { maxLength: 4 }),
  )
  .map(([method, path, headers]) => {
    const body = headers.some((line) => line.startsWith('Transfer-Encoding:')) ? '0\r\n\r\n' : '';
    const lines = headers.map((line) => `${line}\r\n`).join('');
    return `${method} ${path} HTTP/1.1\r\nHost: nas\r\n${lines}\r\n${body}`;
  });

/** Bytes that are almost a request: what two parsers could read in two ways. */
export const almostMessage = fc
  .tuple(
    forgeMessage,
    fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        bytes: fc.constantFrom('\r', '\n', '\r\n', ' ', '\t', '\0', ':', '\x0b', '\xa0', 'x', ''),
        length: fc.nat(3),
      }),
      { maxLength: 2 },
    ),
  )
  .map(([message, edits]) =>
    edits.reduce((text, { at, bytes, length }) => {
      const position = Math.floor(at * text.length);
      return text.slice(0, position) + bytes + text.slice(position + length);
    }, message),
  );
