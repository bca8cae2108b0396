import { expect, test } from 'vitest';

import type { Browser } from './browser.ts';
import { embed, PAGE } from './embed.ts';
import { startPanel } from './start-panel.ts';

test('a question that was open when the session ended is there again when both pages were loaded anew', async () => {
  const daemon = await startPanel();
  const browser = await embed(`${daemon.url}${daemon.base}/`);
  // It can be pressed once the page knows who is logged in.
  const install = `${PAGE}.querySelector('#discover-list .app .primary:not([hidden]):enabled')`;
  await browser.until(`${install} !== null`);
  await browser.evaluate(`${install}.click()`);
  await browser.until(`${PAGE}.querySelector('dialog[open]') !== null`);
  const title = await browser.evaluate(`${PAGE}.querySelector('dialog[open] h2').textContent`);
  await endSession(browser);

  await loadAnew(browser);

  await browser.until(
    `document.querySelector('iframe').contentWindow.isFormer === undefined && ${PAGE}?.querySelector('dialog[open] h2')?.textContent === ${JSON.stringify(title)}`,
  );
});

test('what was searched for is searched for again when both pages were loaded anew', async () => {
  const daemon = await startPanel();
  const browser = await embed(`${daemon.url}${daemon.base}/`);
  await browser.evaluate(`{
    const page = ${PAGE};
    page.querySelector('#discover-all').click();
    const field = page.querySelector('#discover-search');
    field.value = 'libdemo';
    field.dispatchEvent(new Event('input'));
  }`);
  const found = `[...${PAGE}?.querySelectorAll('#discover-list h3') ?? []].map((title) => title.textContent).join() === 'libdemo'`;
  await browser.evaluate(`${PAGE}.querySelector('#discover-others').click()`);
  await browser.until(found);
  await endSession(browser);

  await loadAnew(browser);

  await browser.until(
    `document.querySelector('iframe').contentWindow.isFormer === undefined && ${found}`,
  );
  expect(await browser.evaluate(`${PAGE}.querySelector('#discover-search').value`)).toBe('libdemo');
});

/**
 * As if the session had ended: the next change is refused. Not before the page has heard that there
 * was one.
 */
async function endSession(browser: Browser): Promise<void> {
  await browser.until(`${PAGE}.documentElement.dataset.access === 'write'`);
  await browser.evaluate(`{
    const { contentWindow } = document.querySelector('iframe');
    const headers = { 'x-luci-login-required': 'yes' };
    contentWindow.fetch = async () => new Response('{"msg":"no"}', { status: 403, headers });
    contentWindow.document.querySelector('#update').click();
  }`);
  await browser.until("heard.some(({ depotd }) => depotd === 'login-needed')");
}

async function loadAnew(browser: Browser): Promise<void> {
  await browser.evaluate(
    "{ const { contentWindow } = document.querySelector('iframe'); contentWindow.isFormer = true; contentWindow.location.reload(); }",
  );
}
