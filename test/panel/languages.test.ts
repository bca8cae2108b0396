import { expect, test } from 'vitest';

import { LANGUAGES, voiceOf } from '../../src/languages/languages.ts';
import { agree, choose, click, goTo, openPanel } from './open-panel.ts';
import { sharePanel, startPanel } from './start-panel.ts';

const panel = sharePanel();
const withPassword = sharePanel({}, { set: ['main.auth=password'] });

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

/** Where a dialog or a field of it is wider than its room, or what is written is cut. */
const CUT = `[...document.querySelectorAll('dialog[open], dialog[open] *, main *')]
  .filter((each) => each.checkVisibility() && !each.closest('.unseen') && each.matches('dialog, button, h2, p, label, summary'))
  .filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== 'inline')
  .map((each) => each.outerHTML.slice(0, 100))`;

test.each(LANGUAGES.map(({ code }) => code))(
  'in %s no dialog has a sentence of English, and nothing of it is cut at 320 pixels',
  async (code) => {
    const daemon = await startPanel();
    await daemon.finished(await daemon.submit('install', { package: 'demo' }));
    const browser = await openPanel(`${daemon.url}${daemon.base}/?lang=${code}`);
    await browser.picture({ width: 320, height: 900, scheme: 'light' });
    const look = async (where: string): Promise<void> => {
      await browser.evaluate(
        "document.querySelectorAll('details').forEach((each) => (each.open = true))",
      );
      expect([where, await browser.evaluate(ENGLISH)]).toEqual([where, []]);
      expect([where, await browser.evaluate(CUT)]).toEqual([where, []]);
      expect([where, await browser.evaluate(STICKS_OUT)]).toEqual([where, [320, 320]]);
    };
    const dialog = async (where: string, opener: string): Promise<void> => {
      await click(browser, opener);
      await browser.until("document.querySelector('dialog[open]') !== null");
      await browser.until(isLoaded(voiceOf(code).t('Loading …')));
      await look(where);
      await click(browser, 'dialog[open] [value="no"]');
    };

    for (const [name, button] of [
      ['notes', '.primary'],
      ['demo', '.danger-text'],
    ] as const) {
      await goTo(browser, `app/${name}`);
      await dialog(`app/${name}`, `#app-buttons ${button}`);
    }
    await choose(browser, 'tool.run', "'#!/bin/sh'");
    await browser.until("document.querySelector('dialog[open]') !== null");
    await look('a file');
    await click(browser, 'dialog[open] [value="no"]');
    await goTo(browser, 'device');
    await look('device');
    expect(browser.complaints).toEqual([]);
  },
);

test.each(LANGUAGES.map(({ code }) => code))(
  'in %s the log-in page has no English, and fits 320 pixels',
  async (code) => {
    const daemon = withPassword();
    const browser = await openPanel(
      `${daemon.url}${daemon.base}/admin/login?lang=${code}`,
      "document.querySelector('h1') !== null",
    );
    await browser.picture({ width: 320, height: 900, scheme: 'light' });

    expect(await browser.evaluate('document.documentElement.lang')).toBe(code);
    expect(await browser.evaluate(ENGLISH)).toEqual([]);
    expect(await browser.evaluate(STICKS_OUT)).toEqual([320, 320]);
  },
);

test('a language that was chosen on the page is kept, and loaded alone', async () => {
  const daemon = panel();
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
  const daemon = panel();

  expect((await daemon.get('texts?lang=de')).status).toBe(404);
  expect((await daemon.get('texts?lang=__proto__')).status).toBe(404);
  expect((await daemon.get('texts?lang=../zh-CN')).status).toBe(404);
  const plain = await daemon.get('texts?lang=zh-CN');
  expect(await plain.json()).toMatchObject({ name: '简体中文' });
});
