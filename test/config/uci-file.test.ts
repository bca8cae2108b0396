import { expect, test } from 'vitest';

import { parseUciFile } from '../../src/config/uci-file.ts';

/** What a value may look like in the file, and what it means. */
const VALUES: [string, string][] = [
  ['bare', 'bare'],
  ["'in single quotes'", 'in single quotes'],
  ['"in double quotes"', 'in double quotes'],
  ["''", ''],
  ['""', ''],
  ["'a # is no comment here'", 'a # is no comment here'],
  ['"a ; ends nothing here"', 'a ; ends nothing here'],
  [String.raw`'a \ stays in single quotes'`, String.raw`a \ stays in single quotes`],
  [String.raw`"say \"hello\""`, 'say "hello"'],
  [String.raw`"one \\ two"`, String.raw`one \ two`],
  [String.raw`two\ words`, 'two words'],
  [`'it'"'"'s'`, "it's"],
  ["pre'fixed part'post", 'prefixed partpost'],
  ["'two\nlines'", 'two\nlines'],
  ['"con\\\ntinued"', 'continued'],
  ['con\\\ntinued', 'continued'],
  ['ünïcödé', 'ünïcödé'],
  ['$(reboot)`id`', '$(reboot)`id`'],
];

test.each(VALUES)('the value %j means %j', (written, meant) => {
  const { sections, problems } = parseUciFile(
    `config depotd 'main'\n\toption base ${written}\n\toption root after\n`,
  );

  expect(problems).toEqual([]);
  expect(sections[0]?.options.map(({ name, value }) => [name, value])).toEqual([
    ['base', meant],
    ['root', 'after'],
  ]);
});

test('sections, options and lists keep their order and the line they stand in', () => {
  const text = [
    'package depotd',
    '',
    "config depotd 'main'  # the daemon",
    '\toption auth none',
    '\tlist listen 127.0.0.1:1',
    '# a comment',
    "\tlist listen '127.0.0.1:2'",
    'config forge',
    '\toption path /api',
  ].join('\n');

  expect(parseUciFile(text)).toEqual({
    problems: [],
    sections: [
      {
        type: 'depotd',
        name: 'main',
        line: 3,
        options: [
          { name: 'auth', value: 'none', isList: false, line: 4 },
          { name: 'listen', value: '127.0.0.1:1', isList: true, line: 5 },
          { name: 'listen', value: '127.0.0.1:2', isList: true, line: 7 },
        ],
      },
      {
        type: 'forge',
        name: undefined,
        line: 8,
        options: [{ name: 'path', value: '/api', isList: false, line: 9 }],
      },
    ],
  });
});

test.each(['\n', '\r\n', ' \t\n', ';'])('statements may end with %j', (end) => {
  const { sections, problems } = parseUciFile(
    ['config depotd main', 'option auth none', 'option base /x', ''].join(end),
  );

  expect(problems).toEqual([]);
  expect(sections[0]?.options.map(({ name, value }) => `${name}=${value}`)).toEqual([
    'auth=none',
    'base=/x',
  ]);
});

test('the line of an option counts the line breaks in quotes before it', () => {
  const { sections } = parseUciFile("config depotd main\noption base 'a\nb'\noption root /\n");

  expect(sections[0]?.options.map(({ line }) => line)).toEqual([2, 4]);
});

/** A line, put third into a file that is fine otherwise, and what the message must name. */
const MISTAKES: [string, string][] = [
  ['opt base /x', '"opt"'],
  ['option', '"option NAME VALUE" is expected'],
  ['option base', 'option base'],
  ['list listen', 'list listen'],
  ['option base /x /y', '"option NAME VALUE" is expected'],
  ['config', '"config TYPE [NAME]" is expected'],
  ['config depotd main more', '"config TYPE [NAME]" is expected'],
  ['option __proto__', 'option __proto__'],
  ['<html>login</html>', '"<html>login</html>"'],
];

test.each(MISTAKES)('the line %j is told with its number, and the rest is read', (line, named) => {
  const { sections, problems } = parseUciFile(
    `config depotd main\noption auth none\n${line}\noption root /r\n`,
  );

  expect(problems.map((problem) => problem.line)).toEqual([3]);
  expect(problems[0]?.message).toContain(named);
  expect(sections.flatMap(({ options }) => options).map(({ value }) => value)).toEqual([
    'none',
    '/r',
  ]);
});

test.each(['option auth none', 'list listen a'])('%j before the first section is told', (line) => {
  expect(parseUciFile(`${line}\n`).problems).toEqual([
    { line: 1, message: expect.stringContaining('before the first section') as string },
  ]);
});

test.each(["'", '"'])('a quote %s that does not end is told with the line it opens in', (quote) => {
  const { problems } = parseUciFile(
    `config depotd main\n\n\toption base ${quote}/x\n\toption root /\n`,
  );

  expect(problems).toEqual([
    { line: 3, message: expect.stringContaining(`quote that opens with ${quote}`) as string },
  ]);
});

test.each(['', '\n\n', '# only a comment', '\\', '   '])(
  'a file that holds %j has no section and no problem',
  (text) => {
    expect(parseUciFile(text).sections).toEqual([]);
  },
);
