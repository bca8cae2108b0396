import { expect, onTestFinished, test } from 'vitest';

import { slowPackage } from '../device/awkward-packages.ts';
import { findChromium, launchBrowser, type Browser } from './browser.ts';
import { startPanel } from './start-panel.ts';

const LOG = "(document.querySelector('.lines')?.textContent ?? '')";
const CARDS = "document.querySelectorAll('.app').length";

test('somebody installs an app, watches its log and removes it', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  // Without a browser the page itself is all that can be looked at.
  if (browser === undefined) return;
  await browser.until("document.querySelector('#apps-state').textContent.startsWith('No apps yet')");

  await install(browser, 'demo');
  await browser.until(`${LOG}.includes('Configuring demo-app.') && ${CARDS} === 1`);
  expect(await browser.evaluate("document.querySelector('.app h3').textContent")).toBe('Demo');
  await browser.until("document.querySelector('.chip')?.textContent === 'Done'");

  await click(browser, '[aria-label="Remove Demo"]');
  await browser.until("document.querySelector('#confirm').open");
  expect(((await (await daemon.get('admin/store/installed')).json()) as unknown[]).length).toBe(1);
  await click(browser, '#confirm .danger');
  await browser.until(`${CARDS} === 0`);

  expect(browser.complaints).toEqual([]);
});

test('the page says why a task failed, stops one, and tells when the daemon is gone', async () => {
  const daemon = await startPanel({ packages: [slowPackage(60)] });
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  if (browser === undefined) return;

  await install(browser, 'bad name');
  await browser.until("document.querySelector('#install-problem').textContent !== ''");
  await install(browser, 'badpost');
  await browser.until("document.querySelector('.task .problem')?.textContent.includes('cannot install badpost')");
  await install(browser, 'slow');
  await browser.until(`${LOG}.includes('slow: postinst begin')`);
  await click(browser, '.stop');
  await browser.until("document.querySelector('.chip')?.textContent === 'Stopped'");
  expect(browser.complaints).toEqual([]);

  await daemon.kill('SIGKILL');
  await browser.until("document.querySelector('#link').dataset.state === 'down' && document.querySelectorAll('.notice').length === 1");
});

async function openPanel(url: string): Promise<Browser | undefined> {
  const program = findChromium();
  if (program === undefined) {
    expect(await (await fetch(url)).text()).toContain('<h2 id="install-title">Install an app</h2>');
    return undefined;
  }
  const browser = await launchBrowser(program);
  onTestFinished(() => browser.close());
  await browser.open(url);
  await browser.until("document.querySelector('#link').dataset.state === 'up'");
  return browser;
}

async function install(browser: Browser, name: string): Promise<void> {
  await browser.until("!document.querySelector('#install [type=submit]').disabled");
  await browser.evaluate(`document.querySelector('#install-name').value = ${JSON.stringify(name)}`);
  await click(browser, '#install [type=submit]');
}

async function click(browser: Browser, selector: string): Promise<void> {
  await browser.until(`document.querySelector(${JSON.stringify(selector)})?.checkVisibility()`);
  await browser.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
}
