import { expect, test } from 'vitest';

import { manPages } from '../../../packaging/man-pages.ts';
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

const pages = manPages('1.2.3');
/** What roff is asked for, and what is typed: the same in each language. */
const skeletonOf = (text = ''): string[] =>
  text.split('\n').flatMap((line) => {
    if (line.startsWith('.SH')) return ['.SH'];
    return /^(?:\.|\\fB|\[\\fB|\/)/.test(line) ? [line] : [];
  });

test.each(['zh_CN', 'zh_TW'])(
  'the pages in %s have the same sections, commands and options, and no sentence of English',
  (locale) => {
    for (const path of ['man1/depotctl.1', 'man8/depotd.8']) {
      const [head = '', ...lines] = pages[`${locale}/${path}`]?.split('\n') ?? [];
      // Else roff breaks no line of Chinese, and pulls those asunder that have a blank in them.
      expect(lines.splice(0, 2)).toEqual(['.mso zh.tmac', '.ad l']);
      const translated = [head, ...lines].join('\n');
      expect(skeletonOf(pages[path]).length).toBeGreaterThan(20);
      expect(skeletonOf(translated)).toEqual(skeletonOf(pages[path]));
      const english = translated
        .split('\n')
        .filter((line) => !/^(?:\.B|\.TH|depotctl |source )/.test(line))
        .filter((line) => /[a-z]{2,} [a-z]{2,} [a-z]{2,}|^\.SH [A-Z]/.test(line));
      expect([path, english]).toEqual([path, []]);
    }
  },
);
