import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quickJoin } from '../../src/runtime/quick-join.ts';

const piece = fc.constantFrom('', '.', '..', '...', 'a', '.a', 'a.', 'b c', '/', '//', './', '/..');

test('paths are joined as Node joins them, whatever names they have', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: piece, maxLength: 4 }), { maxLength: 4 }), (names) => {
      expect(quickJoin(...names)).toBe(join(...names));
    }),
    { numRuns: 5000, seed: 27 },
  );
});
