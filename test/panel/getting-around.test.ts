import { expect, test } from 'vitest';

import { goTo, openPanel } from './open-panel.ts';
import { sharePanel } from './start-panel.ts';

const shared = sharePanel();

test('the link that skips the menu leads to the content of the view that is open', async () => {
  const { url, base } = shared();
  const browser = await openPanel(`${url}${base}/#installed`);

  await browser.press('Tab');
  expect(await browser.evaluate('document.activeElement.className')).toBe('skip');
  await browser.press('Enter');

  await browser.until("document.activeElement.id === 'main'");
  expect(await browser.evaluate('location.hash')).toBe('#installed');
  expect(await browser.evaluate("document.querySelector('#view-installed').hidden")).toBe(false);
});

test('an app that is opened by its address leads on to the others', async () => {
  const { url, base } = shared();
  const browser = await openPanel(`${url}${base}/#app/demo`);

  expect(await browser.evaluate("document.querySelector('#app-back').textContent.trim()")).toBe(
    'Back to Discover',
  );
  expect(await browser.evaluate("document.querySelector('#app-back').hash")).toBe('#discover');
});

test('with letters of twice the size all of each view can be reached on a telephone', async () => {
  const { url, base } = shared();
  const browser = await openPanel(`${url}${base}/`);
  await browser.picture({ width: 360, height: 740, scheme: 'light' });
  await browser.evaluate("document.documentElement.style.fontSize = '200%'");

  for (const view of ['discover', 'installed', 'updates', 'activity', 'device', 'app/demo']) {
    await goTo(browser, view);
    await browser.until("document.querySelector('.state:not([hidden]) button[hidden]') === null");
    const width = await browser.evaluate('document.documentElement.scrollWidth');
    expect([view, width]).toEqual([view, 360]);
    const link = await browser.evaluate(`{
      const box = document.querySelector('.views a[aria-current]')?.getBoundingClientRect();
      box === undefined || (box.left >= 0 && box.right <= 360);
    }`);
    expect([view, link]).toEqual([view, true]);
  }

  await goTo(browser, 'device');
  const facts = "[...document.querySelectorAll('#view-device dd')]";
  await browser.until(`${facts}.some((each) => each.checkVisibility())`);
  const narrow = `${facts}.filter((each) => each.checkVisibility() && each.offsetWidth < 100).length`;
  expect(await browser.evaluate(narrow)).toBe(0);
});

test.each([960, 1024])(
  'at %i pixels the menu stands beside everything else of the head',
  async (width) => {
    const { url, base } = shared();
    const browser = await openPanel(`${url}${base}/`);
    await browser.picture({ width, height: 740, scheme: 'light' });

    const found = await browser.evaluate(`{
    document.querySelector('#host').textContent = 'OpenWrt.lan-with-a-long-name.example';
    document.querySelector('#logout').hidden = false;
    for (const badge of document.querySelectorAll('.badge')) {
      badge.hidden = false;
      badge.firstElementChild.textContent = '12';
    }
    const views = document.querySelector('.views');
    const last = views.lastElementChild.getBoundingClientRect().right;
    [last <= document.querySelector('#link').getBoundingClientRect().left, views.scrollWidth > views.clientWidth];
  }`);

    expect(found).toEqual([true, false]);
  },
);
