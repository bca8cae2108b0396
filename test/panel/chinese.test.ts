import { expect, test } from 'vitest';

import { createOwner } from '../support/owner.ts';
import type { Browser } from './browser.ts';
import { CHIP, choose, click, goTo, install, LOG, openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

const ALERT = "document.querySelector('[role=alert]').textContent";
/**
 * Texts in sight that have English words in a row, but for what packages (their titles, too) and
 * the daemon say.
 */
const ENGLISH = `[...document.querySelectorAll('body :not(script, style, noscript *)')]
  .filter((element) => element.checkVisibility() && !element.closest('.description, .lead, .pane, .problem, #app-body'))
  .flatMap((element) => [
    ...[...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data),
    element.placeholder, element.title, element.getAttribute('aria-label'),
  ])
  .map((text) => [...document.querySelectorAll('.app h3')]
    .reduce((rest, { textContent }) => rest.replaceAll(textContent, ''), text ?? ''))
  .map((text) => text.replace(/"[^"]*"/g, ''))
  .filter((text) => /[a-z]{2,} [a-z]{2,}/i.test(text))`;

async function logIn(browser: Browser, password: string): Promise<void> {
  await browser.evaluate(`document.querySelector('#password').value = ${JSON.stringify(password)}`);
  await click(browser, 'form button');
}

test('who reads Chinese logs in, installs, reads logs and errors, and logs out in Chinese', async () => {
  const daemon = await startPanel({}, { set: ['main.auth=password'] });
  await createOwner(daemon).setFirstPassword('secret');
  const browser = await openPanel(
    `${daemon.url}${daemon.base}/`,
    "document.querySelector('#password') !== null",
    { languages: ['zh-CN', 'zh', 'en'] },
  );

  expect(
    await browser.evaluate(
      "[document.documentElement.lang, document.title, ...[...document.querySelectorAll('h1, label, button')].map((element) => element.textContent)]",
    ),
  ).toEqual(['zh-CN', '登录', '登录', '密码', '登录']);
  await logIn(browser, 'wrong');
  await browser.until(`${ALERT} === '密码错误。'`);
  await logIn(browser, 'secret');
  await browser.until("document.querySelector('#link')?.textContent === '实时'");
  expect(await browser.evaluate('[document.documentElement.lang, document.title]')).toEqual([
    'zh-CN',
    '发现 – 应用',
  ]);
  await browser.until("document.querySelectorAll('#discover-list .app h3').length > 0");
  expect(await browser.evaluate(ENGLISH)).toEqual([]);

  await install(browser, 'demo');
  await browser.until(`${LOG}.includes('Configuring demo-app.') && ${CHIP} === '已完成'`);
  await browser.until("document.querySelector('.task-title').textContent === '安装 Demo'");
  expect(await browser.evaluate("document.querySelector('.task-when').textContent")).toMatch(
    /^刚刚( · 用时 \d+秒)?$/,
  );
  await install(browser, 'badpost');
  await browser.until(
    `${CHIP} === '失败' && document.querySelector('.problem-cause').textContent.includes('它安装后运行的脚本')`,
  );
  for (const view of ['installed', 'updates', 'activity', 'app/demo', 'app/libdemo']) {
    await goTo(browser, view);
    expect([view, await browser.evaluate(ENGLISH)]).toEqual([view, []]);
  }
  // What is read out has the names that are in sight.
  await goTo(browser, 'updates');
  await click(browser, '#updates-refresh');
  await browser.until("document.querySelector('#activity-badge').hidden");
  await goTo(browser, 'activity');
  await browser.until("document.querySelector('.pane')?.ariaLabel === '更新列表的日志'");
  await choose(browser, 'notes.txt', "'hello'");
  expect(await browser.evaluate(ENGLISH)).toEqual([]);
  await goTo(browser, 'installed');

  await click(browser, '[aria-label="卸载 Demo"]');
  await browser.until(
    "document.querySelector('#plan').open && !document.querySelector('#plan-yes').disabled",
  );
  expect(
    await browser.evaluate(
      "[...document.querySelectorAll('#plan-title, #plan .buttons button')].map((element) => element.textContent)",
    ),
  ).toEqual(['卸载 Demo？', '取消', '卸载']);
  expect(await browser.evaluate(ENGLISH)).toEqual([]);
  await click(browser, '#plan-yes');
  await browser.until("document.querySelectorAll('#installed-list .app').length === 0");

  await click(browser, '#logout');
  await browser.until("document.querySelector('h1')?.textContent === '登录'");
});

test('what the page is told in lang comes before what the browser prefers, through the log-in', async () => {
  const daemon = await startPanel({}, { set: ['main.auth=password'] });
  await createOwner(daemon).setFirstPassword('secret');
  const query = '?theme=dark&lang=zh-cn';
  const browser = await openPanel(
    `${daemon.url}${daemon.base}/admin/login${query}`,
    "document.querySelector('h1')?.textContent === '登录'",
  );
  expect(await browser.evaluate('document.documentElement.dataset.theme')).toBe('dark');

  await logIn(browser, 'secret');
  await browser.until("document.querySelector('#link')?.textContent === '实时'");
  expect(await browser.evaluate('location.search')).toBe(query);
  await click(browser, '#logout');
  await browser.until("document.querySelector('h1')?.textContent === '登录'");
  expect(await browser.evaluate('location.search')).toBe(query);

  await browser.open(`${daemon.url}${daemon.base}/admin/login?lang=de`);
  expect(await browser.evaluate("document.querySelector('h1').textContent")).toBe('Log in');
});

test('the daemon that is gone is told in Chinese, too', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/?lang=zh-cn`);

  await daemon.kill('SIGKILL');

  await browser.until(
    "document.querySelector('#notices .notice')?.textContent.startsWith('设备没有响应。当前显示的内容可能已过时')",
  );
  expect(await browser.evaluate("document.querySelector('#link').textContent")).toBe(
    '正在重新连接…',
  );
});
