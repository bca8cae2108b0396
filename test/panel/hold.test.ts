import { expect, test } from 'vitest';

import { agree, click, goTo, openPanel } from './open-panel.ts';
import { startPanelDevice } from './start-panel.ts';

const BUTTONS = "[...document.querySelectorAll('#app-buttons button')]";
const buttonOf = (text: string): string =>
  `${BUTTONS}.find(({ innerText }) => innerText.trim() === ${JSON.stringify(text)})`;
const LEFT = "document.querySelector('#updates-left').innerText";

/** What these commands of opkg leave, and feeds with newer versions. */
const startWithNewer = (...commands: string[][]): ReturnType<typeof startPanelDevice> =>
  startPanelDevice({}, {}, async (device) => {
    for (const words of commands) await device.opkg(...words);
    device.publish(2);
    await device.opkg('update');
  });

test('an app is held on its own page, Updates says so, and let go it is upgraded', async () => {
  const { device, daemon } = await startWithNewer(['install', 'app-meta-demo']);
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
  const { daemon } = await startWithNewer(['install', 'libdemo'], ['flag', 'hold', 'libdemo']);
  const browser = await openPanel(`${daemon.url}${daemon.base}/#updates`);
  await click(browser, '#updates-left .update button');
  await browser.until("document.querySelector('#plan .problem-box button')");

  await browser.evaluate("document.querySelector('#plan .problem-box button').click()");

  await browser.until(
    "!document.querySelector('#plan').open && document.querySelectorAll('#updates-list .update').length === 1",
  );
});

test('a feed of the firmware can be switched off and on again, and not removed', async () => {
  const { daemon } = await startPanelDevice();
  const browser = await openPanel(`${daemon.url}${daemon.base}/#device`);
  const isOffered = (label: string): Promise<void> =>
    browser.until(`document.querySelector('[aria-label="${label}"]')?.checkVisibility()`);

  for (const [offered, then] of [
    ['Switch off the feed lab', 'Switch on the feed lab'],
    ['Switch on the feed lab', 'Switch off the feed lab'],
  ] as const) {
    await click(browser, `[aria-label="${offered}"]`);
    await browser.until("location.hash.startsWith('#activity/')");
    await goTo(browser, 'device');
    await isOffered(then);
  }
  expect(
    await browser.evaluate("document.querySelector('#feeds-list .danger-text') === null"),
  ).toBe(true);
});
