import { expect, onTestFinished, test } from 'vitest';

import type { TestDaemon } from '../device/daemon.ts';
import { createPanel, type Panel } from '../support/panel.ts';
import type { Browser } from './browser.ts';
import { click, openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

const IS_LOGIN = "document.querySelector('#username') !== null";
const IS_UP = "document.querySelector('#link')?.dataset.state === 'up'";

interface Opened {
  daemon: TestDaemon;
  panel: Panel;
  browser: Browser;
  url: string;
}

async function openAtPanel(): Promise<Opened> {
  const panel = await createPanel();
  onTestFinished(() => panel.close());
  const daemon = await startPanel({}, { set: ['main.auth=panel'], env: panel.env });
  const url = `${daemon.url}${daemon.base}/`;
  return { daemon, panel, url, browser: await openPanel(url, IS_LOGIN) };
}

const fill = (browser: Browser, password: string): Promise<unknown> =>
  browser.evaluate(`document.querySelector('#password').value = ${JSON.stringify(password)}`);

test("the page leads to the log-in with the device's password, and ends with a log-out in LuCI", async () => {
  const { browser, panel, url } = await openAtPanel();

  expect(await browser.evaluate("document.querySelector('#username').value")).toBe('root');
  await fill(browser, 'wrong');
  await click(browser, 'form button');
  await browser.until(
    "document.querySelector('[role=alert]').textContent.includes('the user name or the password is wrong')",
  );
  const before = await panel.sessions();
  await fill(browser, 'labpass');
  await click(browser, 'form button');
  await browser.until(`location.href === ${JSON.stringify(url)} && ${IS_UP}`);
  expect(await browser.evaluate('document.cookie')).toBe('');

  const id = [...(await panel.sessions()).keys()].find((each) => !before.has(each)) ?? '';
  await panel.logOut(id);
  await browser.until(
    "document.querySelector('#notices .notice')?.textContent.startsWith('You are not logged in any more.')",
  );
  await click(browser, '#notices a');
  await browser.until(IS_LOGIN);
});

/** As a browser sends a form whose script did not run. */
const submit = (browser: Browser): Promise<unknown> =>
  browser.evaluate("document.querySelector('form').submit()");

test('the log-in works without its script', async () => {
  const { browser, url } = await openAtPanel();

  await fill(browser, 'wrong');
  await submit(browser);
  await browser.until(
    "document.querySelector('[role=alert]')?.textContent.includes('the user name or the password is wrong')",
  );
  await fill(browser, 'labpass');
  await submit(browser);
  await browser.until(`location.href === ${JSON.stringify(url)} && ${IS_UP}`);
});

test('while no password is set the page says how to set one', async () => {
  const daemon = await startPanel({}, { set: ['main.auth=password'] });
  const browser = await openPanel(
    `${daemon.url}${daemon.base}/`,
    "document.querySelector('code')?.textContent === 'depotctl passwd'",
  );

  expect(await browser.evaluate("document.querySelector('#password')")).toBe(null);
});

test('on a telephone the log-in stands clear of the edges, with corners as the page has them', async () => {
  const { browser } = await openAtPanel();
  await browser.picture({ width: 375, height: 700, scheme: 'light' });

  const form = "document.querySelector('form')";
  expect(await browser.evaluate(`getComputedStyle(${form}).borderRadius`)).toBe('14.4px');
  expect(await browser.evaluate(`${form}.getBoundingClientRect().left`)).toBeGreaterThan(8);
});

test('a language that was chosen once leaves the log-in its theme', async () => {
  const { browser, url } = await openAtPanel();
  await browser.evaluate("localStorage.setItem('depotd-lang', 'zh-TW')");

  await browser.evaluate(`location.href = ${JSON.stringify(`${url}admin/login?theme=dark`)}`);
  await browser.until("document.querySelector('h1')?.textContent === '登入'");

  expect(await browser.evaluate('location.search')).toBe('?theme=dark&lang=zh-TW');
});
