import { expect, test } from 'vitest';

import { istoreSizeText, sizeText } from '../src/format-bytes.ts';

test.each([
  [0, '0 B'],
  [1, '1 B'],
  [1023, '1023 B'],
  [1024, '1.00 KiB'],
  [67_108_864, '64.00 MiB'],
  [256_044_434_391, '238.46 GiB'],
  [1024 ** 4 - 1, '1024.00 GiB'],
  [8_001_563_222_016, '7.28 TiB'],
  [1024 ** 7, '1024.00 EiB'],
])('%i bytes are told as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test.each([
  [0, '0.00 B'],
  [512, '512.00 B'],
  [1024, '1.00 KB'],
  [256_044_434_391, '238.46 GB'],
])('%i bytes are %s to a page of iStore, always with two decimals', (bytes, text) => {
  expect(istoreSizeText(bytes)).toBe(text);
});
