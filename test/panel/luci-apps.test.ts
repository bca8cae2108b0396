import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { LUCI_PACKAGES } from '../features/store/luci-packages.ts';
import { agree, CHIP, click, goTo, openPanel } from './open-panel.ts';

const ROWS =
  "[...document.querySelectorAll('#plan .changes strong')].map(({ textContent }) => textContent)";
const TRANSLATION = 'luci-i18n-transmission-de';

/** A stock OpenWrt with LuCI in German, behind its web server. */
async function startStock(): Promise<TestDaemon> {
  const device = await createDevice({ packages: LUCI_PACKAGES });
  onTestFinished(() => device.close());
  const config = join(device.root, 'etc/config');
  await mkdir(config, { recursive: true });
  await writeFile(join(config, 'luci'), "config core 'main'\n\toption lang 'de'\n");
  await writeFile(
    join(config, 'uhttpd'),
    "config uhttpd 'main'\n\tlist listen_http '0.0.0.0:8080'\n",
  );
  await device.opkg('update');
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  return daemon;
}

test('the owner of a stock OpenWrt finds, installs, opens and removes an app in six clicks', async () => {
  const daemon = await startStock();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  const search = `{
    const field = document.querySelector('#discover-search');
    field.value = 'transmission';
    field.dispatchEvent(new Event('input'));
  }`;

  await browser.evaluate(search);
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

  await browser.evaluate(`{
    const field = document.querySelector('#discover-search');
    field.value = 'libwanted';
    field.dispatchEvent(new Event('input'));
  }`);
  await browser.until("document.querySelector('#discover-empty').checkVisibility()");
  expect(await browser.evaluate("document.querySelector('#discover-others-box').hidden")).toBe(
    true,
  );
  await click(browser, '#discover-empty .primary');
  await browser.until("document.querySelector('#discover-others-box').checkVisibility()");
  await browser.until(
    "document.querySelector('#discover-empty').innerText.includes('Search libraries and modules')",
  );
  await browser.evaluate(
    "[...document.querySelectorAll('#discover-empty button')].find(({ innerText }) => innerText.startsWith('Search libraries')).click()",
  );
  await browser.until("document.querySelector('#discover-list h3')?.textContent === 'libwanted'");
  expect(await browser.evaluate("document.querySelector('#discover-others').checked")).toBe(true);
});
