import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quickJoin } from '../../src/runtime/quick-join.ts';

const name = fc.constantFrom('', '.', '..', '...', 'a', '.a', 'a.', 'b c', '/', '//', './', '/..');

test('paths are joined as Node joins them, whatever names they have', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: name, maxLength: 4 }), { maxLength: 4 }), (parts) => {
      expect(quickJoin(...parts)).toBe(join(...parts));
    }),
    { numRuns: 5000, seed: 27 },
  );
});
