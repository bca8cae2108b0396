import { expect, test } from 'vitest';

import { createTextsBehind, packed } from '../../packaging/texts-behind.mjs';

/** esbuild reads several files at once: which of them gives its text first is chance. */
test('a bundle is the same bytes in whichever order its texts came', () => {
  const first = bundleOf(['page', 'languages', 'busboy'], []);

  expect(bundleOf(['busboy', 'page', 'languages'], [])).toEqual(first);
});

test('a text that comes when the code of others stands leaves those at their places', () => {
  const { code, texts } = bundleOf(['page', 'languages'], ['a chunk', 'another']);

  const found = [...code.matchAll(/textAt\((\d+),(\d+)\)/g)].map(([, at, length]) =>
    texts.subarray(Number(at), Number(at) + Number(length)).toString('base64'),
  );
  expect(found).toEqual(['page', 'languages', 'a chunk', 'another'].map(packed));
});

/** @param order in which the texts before came; @param later those that come behind laid code */
function bundleOf(order: string[], later: string[]): { code: string; texts: Buffer } {
  const behind = createTextsBehind();
  const standIns = new Map(order.map((text) => [text, behind.keep(packed(text))]));
  let code = ['page', 'languages', 'busboy']
    .filter((text) => standIns.has(text))
    .map((text) => behind.laidBehind(`"${standIns.get(text) ?? ''}";`))
    .join('');
  for (const text of later) code += behind.laidBehind(`"${behind.keep(packed(text))}";`);
  return { code, texts: behind.texts() };
}
