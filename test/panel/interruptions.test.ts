import { expect, onTestFinished, test } from 'vitest';

import { slowPackage } from '../device/packages/awkward-packages.ts';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { createOwner } from '../support/owner.ts';
import { createStoreDevice } from '../features/self-upgrade/self-upgrade-device.ts';
import { CHIP, click, goTo, install, LOG, logIn, openPanel } from './open-panel.ts';
import { startPanel } from './start-panel.ts';

const DONE = `${CHIP} === 'Done'`;

test.each([
  ['cut after a while', { streamMs: 400, mostStreams: 2 }, 'Live'],
  ['refused', { streamMs: 400, mostStreams: 0 }, 'Updated every 2 s'],
])(
  'while streams are %s the page shows all of a log once, and new apps',
  async (_, options, word) => {
    const daemon = await startPanel({ packages: [slowPackage(4)] });
    const proxy = await startCuttingProxy(() => daemon.url, options);
    onTestFinished(() => proxy.close());
    const browser = await openPanel(`${proxy.url}${daemon.base}/`);

    await install(browser, 'slow');
    await browser.until(`${LOG}.includes('slow: postinst begin')`);
    await browser.until(`${LOG}.includes('slow: postinst end') && ${DONE}`);
    const shown = await browser.evaluate(
      "[...document.querySelectorAll('.lines > div')].map(({ textContent }) => textContent).join('\\n')",
    );
    expect(shown).toBe((await daemon.logOf('latest')).replaceAll('\r\n', '\n'));
    expect(await browser.evaluate("document.querySelector('#link').textContent")).toBe(word);
    expect(await browser.evaluate("document.querySelectorAll('#notices .notice').length")).toBe(0);

    await goTo(browser, 'installed');
    await daemon.finished(await daemon.submit('install', { package: 'demo' }));
    await browser.until(
      "[...document.querySelectorAll('#installed-list .app h3')].map(({ textContent }) => textContent).join() === 'Demo,slow'",
    );
  },
);

test('with a password the page leads to the log-in, and out of it again', async () => {
  const daemon = await startPanel({}, { set: ['main.auth=password'] });
  const owner = createOwner(daemon);
  await owner.setFirstPassword('secret');
  const url = `${daemon.url}${daemon.base}/`;
  const browser = await openPanel(url, "document.querySelector('#password') !== null");

  await browser.evaluate("document.querySelector('#password').value = 'wrong'");
  await click(browser, 'form button');
  await browser.until(
    "document.querySelector('[role=alert]').textContent.includes('the password is wrong')",
  );
  await browser.evaluate("document.querySelector('#password').value = 'secret'");
  await click(browser, 'form button');
  await browser.until(
    `location.href === ${JSON.stringify(url)} && document.querySelector('#link')?.dataset.state === 'up'`,
  );
  await install(browser, 'tiny-01');
  await browser.until(DONE);

  await owner.setPassword('another', 'secret');
  await goTo(browser, 'discover');
  await browser.until(
    "document.querySelector('#notices .notice')?.textContent.startsWith('You are not logged in any more.')",
  );
  expect(await browser.evaluate("document.querySelector('#logout').checkVisibility()")).toBe(false);
  await click(browser, '#notices a');
  await logIn(browser, 'another');
  await click(browser, '#logout');
  await browser.until("document.querySelector('#password') !== null");
  await browser.until("location.pathname.endsWith('/admin/login')");
  expect(await browser.evaluate("fetch('store/token').then(({ status }) => status)")).toBe(403);
});

test('a feed that was written down before the log-in is there behind it', async () => {
  const daemon = await startPanel({}, { set: ['main.auth=password'] });
  const owner = createOwner(daemon);
  await owner.setFirstPassword('secret');
  const url = `${daemon.url}${daemon.base}/`;
  const browser = await openPanel(url, "document.querySelector('#password') !== null");
  await logIn(browser, 'secret');
  await goTo(browser, 'device');
  await click(browser, '#feeds summary');
  await browser.evaluate(
    "{ document.querySelector('#feeds-name').value = 'mine'; document.querySelector('#feeds-url').value = 'http://127.0.0.1:1/x'; }",
  );

  await owner.setPassword('another', 'secret');
  await click(browser, '#notices a');
  await logIn(browser, 'another');

  await browser.until("document.querySelector('#feeds-name').checkVisibility()");
  expect(
    await browser.evaluate(
      "['name', 'url'].map((id) => document.querySelector(`#feeds-${id}`).value)",
    ),
  ).toEqual(['mine', 'http://127.0.0.1:1/x']);
});

test('a question that failed once is told, and no longer than the daemon is away', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await browser.evaluate(
    "{ window.shown = []; const box = document.querySelector('#notices'); new MutationObserver(() => shown.push(box.textContent)).observe(box, { childList: true }); }",
  );
  await browser.evaluate(
    "{ const ask = fetch; fetch = () => { fetch = ask; return Promise.reject(new TypeError('cut')); }; }",
  );
  await goTo(browser, 'discover');
  await click(browser, '#update');
  await browser.until("shown.some((text) => text.startsWith('The device does not answer.'))");
  await browser.until(
    "document.querySelector('#notices .notice') === null && document.querySelector('#link').textContent === 'Live'",
  );
});

test('without a password there is nothing to log out of', async () => {
  const daemon = await startPanel();

  expect(await (await daemon.get('')).text()).toMatch(
    /<html lang="en" data-auth="none" data-languages="[^"]*">/,
  );
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  expect(await browser.evaluate("document.querySelector('#logout').checkVisibility()")).toBe(false);
});

test('depotd is upgraded from its own page, which waits for the new version and offers to load it', async () => {
  const on = await createStoreDevice();
  onTestFinished(() => on.close());
  const browser = await openPanel(`${on.url}/cgi-bin/panel/`);

  await goTo(browser, 'device');
  await click(browser, '#self-check');
  await browser.until(
    "document.querySelector('#self-state').textContent.includes('no newer version')",
  );
  await on.offer('2.0-1', 'good');
  await click(browser, '#self-check');
  await browser.until(
    "document.querySelector('#self-state').textContent === 'Version 2.0-1 is there.'",
  );
  await click(browser, '#self-upgrade');
  await click(browser, '#confirm-yes');
  await browser.until(`${LOG}.includes('depotd 2.0-1 answers') && ${DONE}`);
  await browser.until(
    "document.querySelector('#notices [data-tone=good] button') !== null && document.querySelector('#link').dataset.state === 'up'",
  );
  expect(await on.version()).toBe('2.0-1');
});

test('an app that is asked for while nobody answers is said not to be there, and comes later', async () => {
  const daemon = await startPanel();
  const browser = await openPanel(`${daemon.url}${daemon.base}/#app/demo`);
  await browser.until("document.querySelector('#app-buttons .primary') !== null");
  await browser.evaluate(`{
    const ask = window.fetch;
    window.fetch = (...what) => (window.isBack ? ask(...what) : Promise.reject(new Error('gone')));
  }`);

  await goTo(browser, 'app/notes');
  await browser.until(
    "document.querySelector('#app-state').innerText.includes('The device does not answer.')",
  );
  await browser.evaluate('window.isBack = true');
  await click(browser, '#app-state button');
  await browser.until("document.querySelector('#app-name').textContent.startsWith('notes ·')");
  expect(await browser.evaluate("document.querySelector('#app-state').hidden")).toBe(true);
});
