import { expect, onTestFinished, test } from 'vitest';

import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { agree, click, goTo, openPanel } from './open-panel.ts';

const BUTTONS = "[...document.querySelectorAll('#app-buttons button')]";
const buttonOf = (text: string): string =>
  `${BUTTONS}.find(({ innerText }) => innerText.trim() === ${JSON.stringify(text)})`;
const LEFT = "document.querySelector('#updates-left').innerText";

test('an app is held on its own page, Updates says so, and let go it is upgraded', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  await device.opkg('update');
  await device.opkg('install', 'app-meta-demo');
  device.publish(2);
  await device.opkg('update');
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  const browser = await openPanel(`${daemon.url}${daemon.base}/#app/demo`);
  await browser.until(`${buttonOf('Hold this version')} && ${buttonOf('Upgrade')}`);

  await browser.evaluate(`${buttonOf('Hold this version')}.click()`);
  await browser.until(`${buttonOf('Let it be upgraded')} && !${buttonOf('Upgrade')}`);
  await goTo(browser, 'updates');
  await browser.until(`/held at (its|their) version/.test(${LEFT})`);

  await goTo(browser, 'app/demo');
  await browser.until(buttonOf('Let it be upgraded'));
  await browser.evaluate(`${buttonOf('Let it be upgraded')}.click()`);
  await browser.until(buttonOf('Upgrade'));
  await browser.evaluate(`${buttonOf('Upgrade')}.click()`);
  await agree(browser);

  await expect
    .poll(async () => (await device.database()).get('demo-app')?.version, { timeout: 30_000 })
    .toBe('1.1-1');
  expect(browser.complaints).toEqual([]);
});

test('a plan that is refused for a hold offers to let it go', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  await device.opkg('update');
  await device.opkg('install', 'libdemo');
  await device.opkg('flag', 'hold', 'libdemo');
  device.publish(2);
  await device.opkg('update');
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  const browser = await openPanel(`${daemon.url}${daemon.base}/#updates`);
  await click(browser, '#updates-left .update button');
  await browser.until("document.querySelector('#plan .problem-box button')");

  await browser.evaluate("document.querySelector('#plan .problem-box button').click()");

  await browser.until(
    "!document.querySelector('#plan').open && document.querySelectorAll('#updates-list .update').length === 1",
  );
});
