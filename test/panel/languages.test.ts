import { expect, test } from 'vitest';

import { LANGUAGES, voiceOf } from '../../src/languages/languages.ts';
import { agree, click, goTo, openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

/**
 * English words in a row among the texts in sight and the labels, but for what packages and
 * programs say themselves, and for addresses and commands.
 */
const ENGLISH = `[...document.querySelectorAll('body :not(script, style, noscript *)')]
  .filter((element) => element.checkVisibility() && !element.closest('.description, .lead, .pane, #app-body, #language'))
  .flatMap((element) => [
    ...[...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data),
    element.placeholder, element.title, element.getAttribute('aria-label'),
  ])
  .map((text) => [...document.querySelectorAll('.app h3')]
    .reduce((rest, { textContent }) => rest.replaceAll(textContent, ''), text ?? ''))
  .map((text) => text.replace(/\`[^\`]*\`|"[^"]*"/g, ''))
  .filter((text) => /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i.test(text))`;
const STICKS_OUT = '[document.documentElement.scrollWidth, innerWidth]';
const isLoaded = (loading: string): string =>
  `[...document.querySelectorAll('.state p')].every((each) => !each.checkVisibility() || each.textContent !== '${loading}')`;

test.each(LANGUAGES.map(({ code }) => code))(
  'in %s no view and no failure has a sentence of English, and nothing sticks out at 320 pixels',
  async (code) => {
    const daemon = await startPanel();
    for (const name of ['demo', 'badpost']) {
      await daemon.finished(await daemon.submit('install', { package: name }));
    }
    const browser = await openPanel(`${daemon.url}${daemon.base}/?lang=${code}`);
    await browser.picture({ width: 320, height: 900, scheme: 'light' });

    for (const view of ['discover', 'installed', 'updates', 'activity', 'device', 'app/demo']) {
      await goTo(browser, view);
      await browser.until(isLoaded(voiceOf(code).t('Loading …')));
      expect([view, await browser.evaluate(ENGLISH)]).toEqual([view, []]);
      expect([view, await browser.evaluate(STICKS_OUT)]).toEqual([view, [320, 320]]);
    }
    await click(browser, '#app-buttons .danger-text');
    await browser.until("document.querySelector('#plan').open");
    expect(await browser.evaluate(ENGLISH)).toEqual([]);
    await agree(browser);
    expect(browser.complaints).toEqual([]);
  },
);

test('a language that was chosen on the page is kept, and loaded alone', async () => {
  const daemon = await startPanel();
  const url = `${daemon.url}${daemon.base}/`;
  const browser = await openPanel(`${url}#device`);
  const files = `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('texts?'))`;
  expect(await browser.evaluate(files)).toEqual([]);

  await browser.evaluate(`{
    const select = document.querySelector('#language');
    select.value = 'zh-TW';
    select.dispatchEvent(new Event('change'));
  }`);
  const language = (): Promise<unknown> =>
    browser.evaluate('document.documentElement.lang').catch(() => 'going there');
  await expect.poll(language).toBe('zh-TW');
  await browser.open(url);
  await browser.until("document.documentElement.lang === 'zh-TW'");

  expect(await browser.evaluate(files)).toEqual([`${url}texts?lang=zh-TW`]);
  expect(await browser.evaluate("document.querySelector('#language').value")).toBe('zh-TW');
});

test('the texts of a language that is not there are refused', async () => {
  const daemon = await startPanel();

  expect((await daemon.get('texts?lang=de')).status).toBe(404);
  expect((await daemon.get('texts?lang=__proto__')).status).toBe(404);
  expect((await daemon.get('texts?lang=../zh-CN')).status).toBe(404);
  const plain = await daemon.get('texts?lang=zh-CN');
  expect(await plain.json()).toMatchObject({ name: '简体中文' });
});
