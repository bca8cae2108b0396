import { onTestFinished } from 'vitest';

import { launchBrowser, type Browser, type BrowserOptions } from './browser.ts';

/** What the open log shows. */
export const LOG = "(document.querySelector('.lines')?.textContent ?? '')";
/** The state of the task at the head of the list. */
export const CHIP = "document.querySelector('#activity-list .chip')?.textContent";

const IS_UP = "['up', 'polling'].includes(document.querySelector('#link').dataset.state)";

/** @param until what to wait for, an expression in the page */
export async function openPanel(
  url: string,
  until = IS_UP,
  options: BrowserOptions = {},
): Promise<Browser> {
  const browser = await launchBrowser(options);
  onTestFinished(() => browser.close());
  await browser.open(url);
  await browser.until(until);
  return browser;
}

/** Waits for the log-in page, and then for the panel behind it. */
export async function logIn(browser: Browser, password: string): Promise<void> {
  await browser.until("document.querySelector('#password') !== null");
  await browser.evaluate(`document.querySelector('#password').value = '${password}'`);
  await click(browser, 'form button');
  await browser.until("document.querySelector('#link')?.dataset.state === 'up'");
}

/** Goes to a view, such as `updates` or `app/demo`. */
export async function goTo(browser: Browser, view: string): Promise<void> {
  await browser.evaluate(`location.hash = ${JSON.stringify(`#${view}`)}`);
  const [name = ''] = view.split('/');
  await browser.until(`document.querySelector('#view-${name}').hidden === false`);
}

/** Installs an app or a package from its own view, as its plan says, and looks at the log. */
export async function install(browser: Browser, name: string): Promise<void> {
  await goTo(browser, `app/${name}`);
  await browser.until(
    `document.querySelector('#app-name').textContent.startsWith(${JSON.stringify(`${name} ·`)})`,
  );
  await click(browser, '#app-buttons .primary');
  await agree(browser);
  await browser.until("document.querySelector('#app-buttons .busy, #app-buttons .danger-text')");
  await goTo(browser, 'activity');
}

/** Waits for the plan and says yes to it. */
export async function agree(browser: Browser): Promise<void> {
  await browser.until("document.querySelector('#plan').open");
  await click(browser, '#plan-yes');
}

/** Waits until it is there and can be used. */
export async function click(browser: Browser, selector: string): Promise<void> {
  const found = `document.querySelector(${JSON.stringify(selector)})`;
  await browser.until(`${found}?.checkVisibility() && !${found}.disabled`);
  await browser.evaluate(`${found}.click()`);
}

/** Writes into a field, as somebody does who types. */
export async function type(browser: Browser, selector: string, text: string): Promise<void> {
  await browser.evaluate(`{
    const field = document.querySelector(${JSON.stringify(selector)});
    field.value = ${JSON.stringify(text)};
    field.dispatchEvent(new Event('input'));
  }`);
}

/** Chooses a file to upload. @param content an expression in the page */
export async function choose(browser: Browser, name: string, content: string): Promise<void> {
  await goTo(browser, 'device');
  await browser.until("!document.querySelector('#upload-file').disabled");
  await browser.evaluate(`{
    const files = new DataTransfer();
    files.items.add(new File([${content}], ${JSON.stringify(name)}));
    const input = document.querySelector('#upload-file');
    input.files = files.files;
    input.dispatchEvent(new Event('change'));
  }`);
}
