import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { manPage } from '../src/cli/usage/man-page.ts';
import type { Texts } from '../src/languages/languages.ts';
import { createSpeaker } from '../src/languages/sentences.js';

/** Languages whose pages man finds in a folder of their own, such as share/man/zh_CN/man8. */
const LANGUAGES = readdirSync(new URL('../src/languages', import.meta.url))
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.replace('.json', ''));

/** By the path below /usr/share/man; plain text. */
export function manPages(version: string): Record<string, string> {
  const translated = LANGUAGES.flatMap((code) => {
    const { sentences, command, words } = JSON.parse(read(`src/languages/${code}.json`)) as Texts;
    const say = createSpeaker({ ...sentences, ...command });
    const locale = code.replace('-', '_');
    const depotctl = manPage(version, (text) => words[text] ?? say(text));
    return [
      [`${locale}/man1/depotctl.1`, laidOut(depotctl, code)],
      [`${locale}/man8/depotd.8`, laidOut(read(`packaging/debian/depotd.${locale}.8`), code)],
    ];
  });
  return Object.fromEntries([
    ['man1/depotctl.1', manPage(version)],
    ['man8/depotd.8', read('packaging/debian/depotd.8')],
    ...translated,
  ]) as Record<string, string>;
}

/** With groff's rules for where a line may break in a language, and no blanks made wider. */
function laidOut(page: string, code: string): string {
  const [language = ''] = code.split('-');
  return page.replace('\n', `\n.mso ${language}.tmac\n.ad l\n`);
}

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8');
}
