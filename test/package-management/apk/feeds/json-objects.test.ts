import { expect, test } from 'vitest';

import { createObjectReader } from '../../../../src/package-management/apk/feeds/json-objects.ts';

const MOST_BYTES = 250;
/** Braces, quotes, backslashes, letters of two and three bytes, and what looks like a next one. */
const OBJECTS = [
  { a: '}{"\\' },
  { b: { c: [{}], d: '\n  }, {' } },
  { name: '\u00fc\u4e2d', depends: ['one', 'two'] },
  {},
];
const TOO_LONG = { long: 'x'.repeat(2 * MOST_BYTES) };

/** As apk prints them. */
function printed(objects: readonly unknown[]): string {
  const texts = objects.map((object) =>
    JSON.stringify(object, undefined, 2).replace(/\n/g, '\n  '),
  );
  return `[\n  ${texts.join(', ')}\n]\n`;
}

function read(text: string, pieceBytes: number): unknown[] {
  const whole = Buffer.from(text);
  const found: unknown[] = [];
  const reader = createObjectReader(MOST_BYTES, (object) => found.push(object));
  for (let at = 0; at < whole.length; at += pieceBytes) {
    reader.write(whole.subarray(at, at + pieceBytes));
  }
  reader.end();
  return found;
}

test.each([
  ['as apk prints it', printed(OBJECTS)],
  ['on one line', JSON.stringify(OBJECTS)],
  ['with the first on a line of its own', printed(OBJECTS).replace(', {', ',\n  {')],
  ['without an end', printed(OBJECTS).trim().slice(0, -1)],
])('each object of a text is read, however it comes: %s', (_, text) => {
  for (const pieceBytes of [1, 2, 7, 64, 4096]) {
    expect([pieceBytes, read(text, pieceBytes)]).toEqual([pieceBytes, OBJECTS]);
  }
});

test.each([
  ['one that is longer than allowed', printed([OBJECTS[0], TOO_LONG, ...OBJECTS.slice(1)])],
  ['one that is no JSON', printed([OBJECTS[0], { bad: 1 }, ...OBJECTS.slice(1)]).replace('1', 'x')],
  ['what is no object', printed([OBJECTS[0], null, 17, ...OBJECTS.slice(1)])],
])('what can be read is read beside %s', (_, text) => {
  for (const pieceBytes of [1, 7, 64]) {
    expect([pieceBytes, read(text, pieceBytes)]).toEqual([pieceBytes, OBJECTS]);
  }
});

test.each([['[\n'], ['[\n]\n'], [''], ['ERROR: no such thing\n'], ['[{"a":']])(
  'a text without an object has none: %j',
  (text) => {
    expect(read(text, 3)).toEqual([]);
  },
);

test('ten thousand objects of one piece are all read', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({ name: `package-${index}` }));

  expect(read(printed(many), 65_536)).toEqual(many);
});
