import { expect, test } from 'vitest';

import { bytesText } from '../../../src/cli/terminal/bytes.ts';

test.each([
  [0, '0 B'],
  [593, '593 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1_500_000, '1.4 MiB'],
  [10_485_760, '10 MiB'],
  [1_073_741_823, '1.0 GiB'],
  [-2048, '-2.0 KiB'],
])('%i bytes are shown as %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});
