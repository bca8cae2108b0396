import { expect, test } from 'vitest';

import { goTo, openPanel } from './open-panel.ts';
import { sharePanel, startPanel } from './start-panel.ts';

const shared = sharePanel();

test('where the system sets all colours, what is chosen and what is filled stand out', async () => {
  const { url, base } = shared();
  const browser = await openPanel(`${url}${base}/`);
  await browser.picture({ width: 1024, height: 740, scheme: 'light', isForced: true });
  const differ = (one: string, other: string): Promise<unknown> =>
    browser.evaluate(`{
      const ground = (selector) => getComputedStyle(document.querySelector(selector)).backgroundColor;
      ground(${JSON.stringify(one)}) !== ground(${JSON.stringify(other)});
    }`);

  expect(await differ('.views a[aria-current]', '.views a:not([aria-current])')).toBe(true);
  const choice = '#view-discover .switch label';
  expect(await differ(`${choice}:has(:checked)`, `${choice}:not(:has(:checked))`)).toBe(true);
  await goTo(browser, 'device');
  await browser.until("document.querySelector('.bar > div') !== null");
  expect(await differ('.bar > div', '.bar')).toBe(true);
});

test('on a telephone the title of a row with several buttons has a line of its own', async () => {
  const daemon = await startPanel();
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);
  await browser.picture({ width: 360, height: 740, scheme: 'light' });
  await browser.until("document.querySelectorAll('#installed-list .app').length > 0");

  const widths = await browser.evaluate(`{
    const list = document.querySelector('#installed-list');
    list.classList.add('is-list');
    const row = list.querySelector('.app');
    for (const each of row.querySelectorAll('.buttons a, .buttons .danger-text')) each.hidden = false;
    [row.querySelector('h3').clientWidth, row.clientWidth - row.querySelector('.letter').offsetWidth];
  }`);

  const [title = 0, room = 0] = widths as number[];
  expect(title).toBeGreaterThan(room * 0.8);
});
