import { expect, test } from 'vitest';

import { storeApps } from '../device/packages/store-apps.ts';
import { openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

/** Nothing but the list of installed apps stays out. */
const SLOW = `{
  const ask = fetch;
  window.fetch = (address, options) =>
    String(address).endsWith('store/installed') ? new Promise(() => {}) : ask(address, options);
}`;

test('an English page describes an app in English from the first list on', async () => {
  const daemon = await startPanel({ hasUsual: false, packages: storeApps() });
  await daemon.finished(await daemon.submit('install', { package: 'adfilter' }));
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  await browser.open('about:blank');
  await browser.runFirst(SLOW);

  await browser.open(`${daemon.url}${daemon.base}/#installed`);

  const description = "document.querySelector('#installed-list .description')";
  await browser.until(`${description} !== null`);
  expect(await browser.evaluate(`${description}.textContent`)).toBe(
    'Keeps advertising and trackers away from every device at home.',
  );
});
