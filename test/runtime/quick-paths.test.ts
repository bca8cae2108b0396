import * as path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { join, normalize, relative, resolve } from '../../src/runtime/quick-paths.ts';

const piece = fc.constantFrom('', '.', '..', '...', 'a', '.a', 'a.', 'b c', '/', '//', './', '/..');
const name = fc.string({ unit: piece, maxLength: 4 });
const names = fc.array(name, { maxLength: 4 });
const tries = { numRuns: 5000, seed: 27 };

test('paths are joined as Node joins them, whatever names they have', () => {
  fc.assert(
    fc.property(names, (given) => {
      expect(join(...given)).toBe(path.join(...given));
    }),
    tries,
  );
});

test('and normalized and resolved as Node does it', () => {
  fc.assert(
    fc.property(names, name, (given, one) => {
      expect(resolve(...given)).toBe(path.resolve(...given));
      expect(normalize(one)).toBe(path.normalize(one));
    }),
    tries,
  );
});

test('and what lies below a path is named as Node names it', () => {
  fc.assert(
    fc.property(name, name, fc.boolean(), (from, to, isBelow) => {
      const whole = isBelow ? `${from}/${to}` : to;
      expect(relative(from, whole)).toBe(path.relative(from, whole));
    }),
    tries,
  );
});
