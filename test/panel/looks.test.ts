import { expect, test } from 'vitest';

import { goTo, openPanel } from './open-panel.ts';
import { sharePanel } from './start-panel.ts';

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
