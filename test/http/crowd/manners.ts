import type { Manner } from './crowd.ts';

const LOGIN = 'POST /cgi-bin/panel/admin/login HTTP/1.1\r\nHost: 10.77.0.254\r\n';
const FORM = `${LOGIN}Content-Type: application/x-www-form-urlencoded\r\n`;
const GUESS = `${FORM}Content-Length: 11\r\n\r\npassword=no`;

/** What strangers do to keep everybody else out. */
export const MANNERS: Readonly<Record<string, readonly Manner[]>> = {
  'forms that come slowly': [
    { text: `${FORM}Content-Length: 60000\r\n\r\npassword=`, drop: 'x', everyMs: 300 },
    {
      text: `${FORM}Transfer-Encoding: chunked\r\n\r\n9\r\npassword=\r\n`,
      drop: '1\r\nx\r\n',
      everyMs: 300,
    },
    { text: `${FORM}Content-Length: 60000\r\n\r\n`, drop: 'x'.repeat(1500), everyMs: 1000 },
    { text: `${LOGIN}Content-Length: 9000000\r\n\r\n`, drop: 'x'.repeat(600), everyMs: 300 },
  ],
  'half of their headers': [{ text: LOGIN, drop: 'X: y\r\n', everyMs: 300 }],
  nothing: [{ text: '', drop: '', everyMs: 60_000 }],
  'wrong passwords': [{ text: GUESS, drop: GUESS, everyMs: 8000 }],
};
