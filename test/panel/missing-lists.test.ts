import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { click, goTo, openPanel } from './open-panel.ts';

const WORDS = 'There are no package lists since the device was started.';
const textOf = (id: string): string => `document.querySelector('#${id}').innerText`;

test('after a boot Discover and Updates say that there are no lists, and one button fetches them', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await browser.until(`${textOf('discover-lists')}.includes(${JSON.stringify(WORDS)})`);
  await goTo(browser, 'updates');
  await browser.until(`${textOf('updates-lists')}.includes(${JSON.stringify(WORDS)})`);
  expect(await browser.evaluate("document.querySelector('#updates-empty').hidden")).toBe(true);

  // Nobody knows whether a feed offers it, or what is the newest.
  await goTo(browser, 'app/demo');
  await browser.until(
    `${textOf('app-state')}.includes('cannot find demo: there are no package lists')`,
  );
  await goTo(browser, 'app/libc');
  await browser.until(`${textOf('app-body')}.includes('Installed version')`);
  expect(await browser.evaluate(textOf('app-body'))).not.toContain('Newest version');
  await goTo(browser, 'updates');

  await click(browser, '#updates-lists button');
  await browser.until("document.querySelector('#updates-lists').hidden");
  expect(await browser.evaluate('location.hash')).toBe('#updates');

  await goTo(browser, 'discover');
  await browser.until(
    "document.querySelector('#discover-lists').hidden && document.querySelector('#discover-list').childElementCount > 0",
  );
  await goTo(browser, 'updates');
  await browser.until("!document.querySelector('#updates-empty').hidden");
});

test('after a boot Installed says that nothing is installed, though there are no lists', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);

  await browser.until("document.querySelector('#installed-count').textContent === '0 found'");
  expect(await browser.evaluate(textOf('installed-empty'))).toContain('Nothing yet.');
});

test('Discover and Updates name the feeds whose list did not come, until they have one', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const feeds = join(device.root, 'etc/opkg/customfeeds.conf');
  const kept = await readFile(feeds, 'utf8');
  await appendFile(feeds, 'src/gz gone http://127.0.0.1:1/gone\n');
  await device.opkg('update');
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);
  const words = 'No package list came of these feeds: gone. What they offer is not known.';

  for (const view of ['discover', 'updates']) {
    await goTo(browser, view);
    await browser.until(`${textOf(`${view}-lists`)}.includes(${JSON.stringify(words)})`);
  }
  expect(await browser.evaluate("document.querySelector('#updates-empty').hidden")).toBe(false);

  await click(browser, '#updates-lists button');
  await browser.until("document.querySelector('#feeds-list').innerText.includes('gone')");

  await writeFile(feeds, kept);
  await goTo(browser, 'updates');
  await click(browser, '#updates-refresh');
  await browser.until("document.querySelector('#updates-lists').hidden");
  await goTo(browser, 'discover');
  await browser.until("document.querySelector('#discover-lists').hidden");
});
