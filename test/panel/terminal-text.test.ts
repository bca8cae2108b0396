import { expect, test } from 'vitest';

import {
  createTerminalText,
  wholeCharacters,
} from '../../src/panel/views/activity/terminal-text.js';

test.each([
  ['lines of a terminal', 'one\r\ntwo\r\n', 'one\ntwo\n'],
  ['a progress bar that begins its line again', '10 %\r50 %\r100 %\n', '100 %\n'],
  ['what is longer stays behind a shorter line', 'loading\rok\n', 'okading\n'],
  ['the rest of the line erased', 'loading\r\x1b[Kok\n', 'ok\n'],
  ['the whole line erased', 'loading\x1b[2K\rok', 'ok'],
  ['backspaces', 'abc\b\bX', 'aXc'],
  [
    'lines drawn again further up',
    'layer 1: 1 %\nlayer 2: 1 %\n\x1b[2A\x1b[2Klayer 1: done\x1b[2B\r',
    'layer 1: done\nlayer 2: 1 %\n',
  ],
  ['a tab goes to the next stop', 'a\tb', 'a       b'],
  ['colours and titles are no text', '\x1b]0;title\x07\x1b[1;31mred\x1b[0m', 'red'],
  ['other sequences and control characters are dropped', '\x1b(B\x1b[?25l\x07a\x00b\x1b=', 'ab'],
  ['markup is text', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
])('shows %s', (_, written, shown) => {
  const terminal = createTerminalText();

  terminal.write(written);

  expect(terminal.text()).toBe(shown);
});

test('a sequence may come in pieces', () => {
  const whole = '\x1b]0;a title\x1b\\\x1b[1;32mgreen\x1b[0m\r\nplain';
  const terminal = createTerminalText();

  for (const character of whole) terminal.write(character);

  expect(terminal.text()).toBe('green\nplain');
  expect(terminal.readChanges().lines).toEqual([
    [{ text: 'green', colour: 3, isBold: true }],
    [{ text: 'plain', colour: 0, isBold: false }],
  ]);
});

test('changes begin at the first line that differs', () => {
  const terminal = createTerminalText();
  terminal.write('one\ntwo\nthr');
  terminal.readChanges();

  terminal.write('ee\nfour');

  const { firstLine, from, lines } = terminal.readChanges();
  expect({ firstLine, from }).toEqual({ firstLine: 0, from: 2 });
  expect(lines.map((runs) => runs.map(({ text }) => text).join(''))).toEqual(['three', 'four']);
});

test('old lines are forgotten, and numbers go on', () => {
  const terminal = createTerminalText({ mostLines: 100 });

  for (let line = 0; line < 1000; line += 1) terminal.write(`${line}\n`);

  const { firstLine, lines } = terminal.readChanges();
  expect(lines.length).toBeLessThanOrEqual(125);
  expect(lines.length).toBeGreaterThanOrEqual(100);
  expect(lines[0]?.[0]?.text).toBe(String(firstLine));
  expect(terminal.text().endsWith('998\n999\n')).toBe(true);
});

test('a line without end is broken', () => {
  const terminal = createTerminalText();

  terminal.write('x'.repeat(5000));

  expect(
    terminal
      .text()
      .split('\n')
      .map(({ length }) => length),
  ).toEqual([2000, 2000, 1000]);
});

test.each(['\x1b[>G', '\x1b[1?G', '\x1b[<1C', '\x1b[=2K', '\x1b[?1A'])(
  'the private sequence %j moves nothing, and what stands behind it is shown',
  (sequence) => {
    const screen = createTerminalText();

    screen.write(`one${sequence}two`);

    expect(screen.text()).toBe('onetwo');
  },
);

test.each(['', 'plain', 'käse', '→ 3 €', 'a 😀 b', '😀'])(
  'text is cut between characters, and nothing of it is lost (%j)',
  (text) => {
    const bytes = Buffer.from(text);

    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const whole = wholeCharacters(bytes.subarray(0, cut));
      expect(bytes.toString('utf8', 0, whole) + bytes.toString('utf8', whole)).toBe(text);
      expect(cut - whole).toBeLessThan(4);
    }
    expect(wholeCharacters(bytes)).toBe(bytes.length);
  },
);

test('bytes that are no text are handed on', () => {
  expect(wholeCharacters(Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80]))).toBe(5);
});
