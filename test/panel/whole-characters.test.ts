import { expect, test } from 'vitest';

import { wholeCharacters } from '../../src/panel/views/activity/whole-characters.js';

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
