import { expect, test } from 'vitest';

import { COMMAND_NAMES, COMMANDS } from '../../../src/cli/usage/commands.ts';
import { manPage } from '../../../src/cli/usage/man-page.ts';
import { COMMON_OPTIONS } from '../../../src/cli/usage/options.ts';

const page = manPage('1.2.3');

test('the man page has every command and every option', () => {
  for (const name of COMMAND_NAMES) {
    expect(page).toContain(`.TP\n.B ${name.replaceAll('-', '\\-')}`);
  }
  for (const name of [...Object.keys(COMMON_OPTIONS), ...COMMANDS.install.options]) {
    expect(page).toContain(`\\-\\-${name.replaceAll('-', '\\-')}`);
  }
});

test('roff gets no line that it takes for a request by mistake, and no hyphen for a minus', () => {
  const requests = page.split('\n').filter((line) => /^[.']/.test(line));
  const texts = page.split('\n').filter((line) => !/^[.']/.test(line));

  expect(requests.filter((line) => !/^\.(?:TH|SH|TP|B|IP|PP|RS|RE|nf|fi)\b/.test(line))).toEqual(
    [],
  );
  expect(texts.filter((line) => /(?<!\\)-/.test(line))).toEqual([]);
});
