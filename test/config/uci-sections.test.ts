import { expect, test } from 'vitest';

import { addUciSection, removeUciOption, removeUciSection } from '../../src/config/uci-sections.ts';

const TEXT =
  "config a 'one'\n\tlist x '1'\n\tlist x '2'\n\n# two\nconfig b 'two'\n\toption y 'z'\n";

test('a section goes with its lines, and the comment of the next one stays', () => {
  expect(removeUciSection(TEXT, 'one')).toBe("\n# two\nconfig b 'two'\n\toption y 'z'\n");
  expect(removeUciSection(TEXT, 'two')).toBe(
    "config a 'one'\n\tlist x '1'\n\tlist x '2'\n\n# two\n",
  );
});

test('all lines of a list go with it', () => {
  expect(removeUciOption(TEXT, 'one', 'x')).toBe(
    "config a 'one'\n\n# two\nconfig b 'two'\n\toption y 'z'\n",
  );
});

test('a section is made at the end, also of a file whose last line has no end', () => {
  expect(addUciSection("config a 'one'", { name: 'two', type: 'b' })).toBe(
    "config a 'one'\n\nconfig b 'two'\n",
  );
});

test.each([
  ["config a 'one'; option x '1'\nconfig b 'two'; option y '2'\n", 'one'],
  ["config a 'one'\n\toption x '1\n2'\n\toption z '3\n4'\nconfig b 'two'\n", 'one'],
  ["config a 'one'; config b 'two'\n", 'one'],
])('what shares a line with others is removed whole or refused', (text, name) => {
  let result: string;
  try {
    result = removeUciSection(text, name);
  } catch (error) {
    expect(String(error)).toContain('only an editor can change');
    return;
  }
  expect(result).not.toContain("'one'");
  expect(result).toContain("'two'");
});
