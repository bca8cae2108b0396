import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { TestDaemon } from '../device/daemon.ts';
import type { Device } from '../device/device.ts';
import { LUCI_PACKAGES } from '../features/store/luci-packages.ts';
import { agree, CHIP, click, goTo, openPanel, type } from './open-panel.ts';
import { startPanelDevice } from './start-panel.ts';

const ROWS =
  "[...document.querySelectorAll('#plan .changes strong')].map(({ textContent }) => textContent)";
const TRANSLATION = 'luci-i18n-transmission-de';

/** A stock OpenWrt with LuCI in German, behind its web server. */
async function startStock(
  packages = LUCI_PACKAGES,
  prepare?: (device: Device) => Promise<unknown>,
): Promise<TestDaemon> {
  const { daemon } = await startPanelDevice({ packages }, {}, async (device) => {
    const config = join(device.root, 'etc/config');
    await mkdir(config, { recursive: true });
    await writeFile(join(config, 'luci'), "config core 'main'\n\toption lang 'de'\n");
    const uhttpd = "config uhttpd 'main'\n\tlist listen_http '0.0.0.0:8080'\n";
    await writeFile(join(config, 'uhttpd'), uhttpd);
    await prepare?.(device);
  });
  return daemon;
}

test('the owner of a stock OpenWrt finds, installs, opens and removes an app in six clicks', async () => {
  const daemon = await startStock();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await type(browser, '#discover-search', 'transmission');
  await browser.until("document.querySelector('#discover-count').textContent === '1 found'");
  await click(browser, '[aria-label="Install Transmission"]');
  await browser.until(`${ROWS}.includes(${JSON.stringify(TRANSLATION)})`);
  await click(browser, '#plan-translated');
  await browser.until(`!${ROWS}.includes(${JSON.stringify(TRANSLATION)}) && ${ROWS}.length > 0`);
  await click(browser, '#plan-translated');
  await browser.until(`${ROWS}.includes(${JSON.stringify(TRANSLATION)})`);
  await agree(browser);
  await goTo(browser, 'activity');
  await browser.until(`${CHIP} === 'Done'`);

  await goTo(browser, 'installed');
  await browser.until("document.querySelector('#installed-list a.button')?.checkVisibility()");
  expect(await browser.evaluate("document.querySelector('#installed-list a.button').href")).toBe(
    'http://127.0.0.1:8080/cgi-bin/luci/admin/services/transmission',
  );
  await click(browser, '[aria-label="Remove Transmission Client"]');
  await browser.until(`${ROWS}.includes(${JSON.stringify(TRANSLATION)})`);
  await click(browser, '#plan .danger');
  await browser.until("document.querySelectorAll('#installed-list .app').length === 0");

  expect(browser.complaints).toEqual([]);
});

test('all packages are programs first; libraries are behind a switch', async () => {
  const daemon = await startStock();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await type(browser, '#discover-search', 'libwanted');
  await browser.until("document.querySelector('#discover-empty').checkVisibility()");
  expect(await browser.evaluate("document.querySelector('#discover-others-box').hidden")).toBe(
    true,
  );
  await browser.until(
    "document.querySelector('#discover-empty').innerText.includes('Search libraries and modules')",
  );
  await browser.evaluate(
    "[...document.querySelectorAll('#discover-empty button')].find(({ innerText }) => innerText.startsWith('Search libraries')).click()",
  );
  await browser.until("document.querySelector('#discover-list h3')?.textContent === 'libwanted'");
  expect(await browser.evaluate("document.querySelector('#discover-others').checked")).toBe(true);
});

test('words that no app has are looked for among the programs without a click', async () => {
  const fields = { Description: 'A small editor' };
  const nano = { name: 'nano', version: '7.2-1', architecture: 'all', fields };
  const daemon = await startStock([...LUCI_PACKAGES, nano]);
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await type(browser, '#discover-search', 'nano');
  await browser.until("document.querySelector('#discover-list h3')?.textContent === 'nano'");
  expect(await browser.evaluate("document.querySelector('#discover-empty').innerText")).toBe(
    'No app matches “nano”. These packages do:',
  );
  // The next words are looked for among the apps again.
  await type(browser, '#discover-search', 'oldie');
  await browser.until("document.querySelector('#discover-list h3')?.textContent === 'Oldie'");
  expect(await browser.evaluate("document.querySelector('#discover-empty').hidden")).toBe(true);
});

test('an app that is upgraded for the sake of its daemon is not told to go from its version to the same', async () => {
  const newer = LUCI_PACKAGES.map((each) =>
    each.name === 'transmission' ? { ...each, version: '2.0-1' } : each,
  );
  const daemon = await startStock(LUCI_PACKAGES, async (device) => {
    await device.opkg('install', 'luci-app-transmission');
    device.feed.publish(newer);
    await device.opkg('update');
  });
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await goTo(browser, 'installed');
  await browser.until("document.querySelector('#installed-list .app') !== null");
  const text = await browser.evaluate("document.querySelector('#installed-list .app').innerText");
  expect(text).toContain('1.0-1 · what it needs has newer versions');
  expect(text).not.toContain('→');
});
