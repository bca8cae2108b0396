import { expect, onTestFinished } from 'vitest';

import { findChromium, launchBrowser, type Browser, type BrowserOptions } from './browser.ts';

/** What the open log shows. */
export const LOG = "(document.querySelector('.lines')?.textContent ?? '')";

const IS_UP = "['up', 'polling'].includes(document.querySelector('#link').dataset.state)";

/**
 * @param until what to wait for, an expression in the page
 * @returns undefined if there is no browser: then the page itself is all that can be looked at
 */
export async function openPanel(
  url: string,
  until = IS_UP,
  options: BrowserOptions = {},
): Promise<Browser | undefined> {
  const program = findChromium();
  if (program === undefined) {
    expect(await (await fetch(url)).text()).toContain('<h2 id="install-title">Install an app</h2>');
    return undefined;
  }
  const browser = await launchBrowser(program, options);
  onTestFinished(() => browser.close());
  await browser.open(url);
  await browser.until(until);
  return browser;
}

export async function install(browser: Browser, name: string): Promise<void> {
  await browser.until("!document.querySelector('#install [type=submit]').disabled");
  await browser.evaluate(`document.querySelector('#install-name').value = ${JSON.stringify(name)}`);
  await click(browser, '#install [type=submit]');
}

/** Waits until it is there and can be used. */
export async function click(browser: Browser, selector: string): Promise<void> {
  const found = `document.querySelector(${JSON.stringify(selector)})`;
  await browser.until(`${found}?.checkVisibility() && !${found}.disabled`);
  await browser.evaluate(`${found}.click()`);
}

/** Chooses a file to upload. @param content an expression in the page */
export async function choose(browser: Browser, name: string, content: string): Promise<void> {
  await browser.until("!document.querySelector('#upload-file').disabled");
  await browser.evaluate(`{
    const files = new DataTransfer();
    files.items.add(new File([${content}], ${JSON.stringify(name)}));
    const input = document.querySelector('#upload-file');
    input.files = files.files;
    input.dispatchEvent(new Event('change'));
  }`);
}
