import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';

import { DEVICE_PATH, devicePath } from '../../src/http/parameter-schemas.ts';

/** The same by a negative lookahead, which not every engine has. */
const BY_LOOKAHEAD = /^(?:\/|(?:\/(?!\.{1,2}(?:\/|$))[^/\0\n\r\ufffd]+)+)$/;
const PUBLISHED = new RegExp(DEVICE_PATH.source, 'u');

test('a path is the same with and without lookahead, for all short texts', () => {
  const characters = ['/', '.', 'a', '\n'];
  let texts = [''];
  let accepted = 0;
  for (let length = 1; length <= 8; length += 1) {
    texts = texts.flatMap((text) => characters.map((character) => text + character));
    for (const text of texts) {
      const isPath = BY_LOOKAHEAD.test(text);
      if (isPath) accepted += 1;
      if (DEVICE_PATH.test(text) !== isPath || PUBLISHED.test(text) !== isPath) {
        expect.fail(`${JSON.stringify(text)} is a path: ${isPath}`);
      }
    }
  }
  expect(accepted).toBeGreaterThan(500);
});

test('and for long ones of all characters', () => {
  const word = fc.oneof(
    fc.constantFrom('/', '.', '..', '\0', '\r', '\ufffd', ' ', '\u2028', '\u{1f600}'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 40 }), (words) => {
      const text = `/${words.join('')}`;
      expect(PUBLISHED.test(text)).toBe(BY_LOOKAHEAD.test(text));
      expect(v.is(devicePath, text)).toBe(BY_LOOKAHEAD.test(text));
    }),
    { numRuns: 1000 },
  );
});

test('what openapi.json says of it has neither lookahead nor escapes of one engine alone', () => {
  expect(DEVICE_PATH.source).not.toMatch(/\(\?[=!<]|\\0/);
});
