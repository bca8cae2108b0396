import { expect, test } from 'vitest';

import { datedText, eventText, type LogEvent } from '../../src/log/event-text.ts';

const event = (fields: object): LogEvent => ({ level: 30, time: 0, event: 'job ended', ...fields });

test.each([
  [{}, 'job ended'],
  [{ task: 'a1', kind: 'install', exitCode: 0 }, 'job ended task=a1 kind=install exitCode=0'],
  [{ address: 'unix:/run/depotd.sock' }, 'job ended address=unix:/run/depotd.sock'],
  [{ error: 'cannot find "x"' }, 'job ended error="cannot find \\"x\\""'],
  [{ reason: 'a\nfake line\x1b[31m' }, 'job ended reason="a\\nfake line\\u001b[31m"'],
  [{ subject: '' }, 'job ended subject=""'],
  [{ subject: 'a=b' }, 'job ended subject="a=b"'],
  [
    { options: ['main.root'], on: true, none: null },
    'job ended options=["main.root"] on=true none=null',
  ],
  [{ subject: undefined, kind: 'install' }, 'job ended kind=install'],
])('%j is one line that people can read', (fields, text) => {
  expect(eventText(event(fields))).toBe(text);
});

test('outside of syslog the line says when it was written, and how grave it is', () => {
  expect(datedText(event({ level: 40 }))).toBe('1970-01-01T00:00:00.000Z warn job ended');
});

test('a token, a password or a cookie is not in a line for people, however deep it lies', () => {
  const request = { cookie: 'secret-1', head: [{ authorization: 'secret-2' }] };
  const text = eventText(event({ path: '/x', token: 'secret-3', request }));

  expect(text).toBe(
    'job ended path=/x token=(not shown) request={"cookie":"(not shown)","head":[{"authorization":"(not shown)"}]}',
  );
});
