import { expect, test } from 'vitest';

import { simplePackage } from '../device/packages/package-parts.ts';
import { createOwner } from '../support/owner.ts';
import { agree, CHIP, click, goTo, install, logIn, openPanel, type } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

const INSTALLED = "[...document.querySelectorAll('#installed-list h3')].map((e) => e.textContent)";
const PRESSABLE =
  "[...document.querySelectorAll('[data-write]')].filter((each) => each.checkVisibility() && !each.disabled).length";
const FAILURES =
  "[...document.querySelectorAll('.failure')].filter((each) => each.checkVisibility()).length";

test('what the owner installs is there when Installed is opened, app or not', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await goTo(browser, 'installed');
  await browser.until(
    "document.querySelector('#installed-empty').textContent.includes('Nothing yet')",
  );
  await install(browser, 'libdemo');
  await goTo(browser, 'installed');
  await browser.until(`${INSTALLED}.join() === 'libdemo'`);
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  await browser.until(`${INSTALLED}.join() === 'Demo,libdemo'`);
});

test('with the session gone nothing can be changed, and after the log-in the question is there again', async () => {
  const daemon = await startPanel({}, { set: ['main.auth=password'] });
  const owner = createOwner(daemon);
  await owner.setFirstPassword('secret');
  const browser = await openPanel(
    `${daemon.url}${daemon.base}/#app/demo`,
    "document.querySelector('#password') !== null",
  );
  await logIn(browser, 'secret');
  await browser.until("location.hash === '#app/demo'");

  await click(browser, '#app-buttons .primary');
  await browser.until("!document.querySelector('#plan-yes').disabled");
  await owner.setPassword('another', 'secret');
  await browser.until(`${PRESSABLE} === 0`);
  await click(browser, '#plan .log-in a');
  await logIn(browser, 'another');

  await browser.until("location.hash === '#app/demo'");
  await agree(browser);
  await browser.until("document.querySelector('#app-buttons .danger-text') !== null");
  await goTo(browser, 'activity');
  await browser.until(`${CHIP} === 'Done'`);

  // So is one about what has been done.
  await click(browser, '#activity-list .undo button');
  await browser.until("!document.querySelector('#plan-yes').disabled");
  await owner.setPassword('third', 'another');
  await browser.until(`${PRESSABLE} === 0`);
  await click(browser, '#plan .log-in a');
  await logIn(browser, 'third');
  await browser.until("document.querySelector('#plan-title').textContent.startsWith('Undo')");
  await agree(browser);
});

test('lists are fetched where somebody asks for it', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/#updates`);

  await click(browser, '#updates-refresh');
  await browser.until(
    "document.querySelector('#updates-refresh').textContent.includes('Updating the lists …')",
  );
  await browser.until(
    "document.querySelector('#updates-refresh').textContent.trim() === 'Update lists'",
  );
  expect(await browser.evaluate('location.hash')).toBe('#updates');
});

test('of tasks that failed only the newest says at once why', async () => {
  const daemon = await startPanel();
  for (const name of ['badpost', 'absent']) {
    await daemon.finished(await daemon.submit('install', { package: name })).catch(() => undefined);
  }
  const browser = await openPanel(`${daemon.url}${daemon.base}/#activity`);

  await browser.until(`${FAILURES} === 1`);
  await click(browser, '#activity-list li:last-child .task-head');
  await browser.until(`${FAILURES} === 2`);
});

test('an app says once what it takes with all it needs, and leads back to where it was found', async () => {
  const daemon = await startPanel({
    packages: [
      simplePackage('wanting', { fields: { Depends: 'bulky' }, installedSizeBytes: 1024 }),
      simplePackage('bulky', { installedSizeBytes: 5 * 1024 ** 2 }),
    ],
  });
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);

  await goTo(browser, 'app/wanting');
  await browser.until(
    "document.querySelector('#app-body').textContent.includes('5.0 MiB, with all it needs')",
  );
  expect(
    await browser.evaluate(
      "document.querySelector('#view-app').textContent.match(/[0-9.]+ ?(?:[KMG]i)?B\\b/g).length",
    ),
  ).toBe(1);
  await click(browser, '#app-back');
  await browser.until("location.hash === '#installed'");
});

test('what is installed and has no page of its own says so from the first moment', async () => {
  const daemon = await startPanel();
  await daemon.finished(await daemon.submit('install', { package: 'libdemo' }));
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await type(browser, '#discover-search', 'libdemo');
  await click(browser, '#discover-all');
  await click(browser, '#discover-others');
  await browser.until("document.querySelector('#discover-count').textContent === '1 found'");

  const shown =
    "[...document.querySelectorAll('#discover-list .foot *')].filter((each) => each.checkVisibility()).map(({ textContent }) => textContent)";
  expect(await browser.evaluate(shown)).toContain('Installed');
});
