import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { agree, click, goTo, openPanel } from './open-panel.ts';
import { startPanel, startPanelDevice } from './start-panel.ts';

const button = (where: string, text = 'Undo'): string =>
  `[...document.querySelectorAll('${where} button')].find((one) =>
    one.innerText.trim() === '${text}' && !one.disabled && one.checkVisibility())`;

const startWithDemo = (): ReturnType<typeof startPanelDevice> =>
  startPanelDevice({}, {}, (device) => device.opkg('install', 'app-meta-demo'));

test('a removal is undone from its notice, and that from Activity', async () => {
  const { device, daemon } = await startWithDemo();
  const version = async (): Promise<string | undefined> => {
    const { state, version: found } = (await device.database()).get('demo-app') ?? {};
    return state === 'installed' ? found : undefined;
  };
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);
  await daemon.finished(await daemon.submit('remove', { package: 'demo' }));
  await browser.until(button('#notices'));

  await browser.evaluate(`${button('#notices')}.click()`);
  await agree(browser);
  await expect.poll(version, { timeout: 30_000 }).toBe('1.0-1');

  await browser.evaluate("location.hash = '#activity'");
  await browser.until(button('#activity-list'));
  await browser.until("document.querySelector('#activity-list').innerText.includes('Undo: Demo')");
  await browser.evaluate(`${button('#activity-list')}.click()`);
  await agree(browser);
  await expect.poll(version, { timeout: 30_000 }).toBeUndefined();
  expect(browser.complaints).toEqual([]);
});

test('an undo that is not possible any more is not offered', async () => {
  const daemon = await startPanel();
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);
  await daemon.finished(await daemon.submit('remove', { package: 'demo' }));
  await browser.until(button('#notices'));

  await daemon.finished(await daemon.submit('install', { package: 'demo' }));

  await browser.until(`${button('#notices')} === undefined`);
});

test('what somebody else asked for with a time to confirm is kept from Activity', async () => {
  const daemon = await startPanel();
  const id = await daemon.submit('install', { package: 'demo', confirm_s: '300' });
  await daemon.finished(id);
  const browser = await openPanel(`${daemon.url}${daemon.base}/#activity`);
  await browser.until(button('#activity-list', 'Keep the change'));
  expect(await daemon.status(id)).toHaveProperty('confirm_by');

  await browser.evaluate(`${button('#activity-list', 'Keep the change')}.click()`);

  await browser.until(`${button('#activity-list', 'Keep the change')} === undefined`);
  expect(await daemon.status(id)).not.toHaveProperty('confirm_by');
});

test('a page that is loaded again while it counts confirms all the same', async () => {
  const daemon = await startPanel({
    packages: [
      { name: 'dnsmasq-full', version: '1', architecture: 'all', files: { '/usr/x': '' } },
    ],
  });
  const browser = await openPanel(`${daemon.url}${daemon.base}/#app/dnsmasq-full`);
  await click(browser, '#app-buttons .primary');
  await agree(browser);
  const counting = "document.querySelector('#notices [role=timer]')?.innerText.includes(' s.')";
  await browser.until(counting);

  await browser.evaluate('setTimeout(() => location.reload(), 10)');

  await browser.until("document.querySelector('#notices')?.innerText.includes('change stays')");
  // Nor does its row say that it goes back.
  await goTo(browser, 'activity');
  await browser.until("document.querySelector('#activity-list .task') !== null");
  expect(
    await browser.evaluate(`${button('#activity-list', 'Keep the change')} === undefined`),
  ).toBe(true);
});

test('a restore says what it brings back: settings alone, and after a boot what no list is there for', async () => {
  const { device, daemon } = await startWithDemo();
  const settings = join(device.root, 'etc/config/demo-app');
  await writeFile(settings, 'config mine\n');
  await daemon.finished(await daemon.submit('backup'));
  await writeFile(settings, 'config other\n');
  const browser = await openPanel(`${daemon.url}${daemon.base}/#device`);
  const body = "document.querySelector('#plan-body').innerText";

  await click(browser, '#backups-list button');
  await browser.until(`${body}.includes('/etc/config/demo-app')`);
  await click(browser, '#plan-no');

  await device.opkg('remove', 'app-meta-demo', 'demo-app');
  await writeFile(settings, 'config mine\n');
  await rm(join(device.root, 'var/opkg-lists/lab'));
  await click(browser, '#backups-list button');
  await browser.until(`${body}.includes('lists are there: app-meta-demo')`);
  expect(await browser.evaluate(body)).not.toContain('All of it is there already');
  await agree(browser);

  const isThere = async (): Promise<boolean> => (await device.database()).has('demo-app');
  await expect.poll(isThere, { timeout: 30_000 }).toBe(true);
});

test('on a telephone what is said with a button can be closed beside it, and Undo stands below its title', async () => {
  const daemon = await startPanel();
  await daemon.finished(await daemon.submit('install', { package: 'demo' }));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#installed`);
  await browser.picture({ width: 360, height: 740, scheme: 'light' });
  await click(browser, '[aria-label="Remove Demo"]');
  await agree(browser);
  await browser.until("document.querySelectorAll('#notices .notice button').length === 2");

  const tops =
    "[...document.querySelectorAll('#notices .notice button')].map((each) => { const { top, height } = each.getBoundingClientRect(); return Math.round(top + height / 2); })";
  const [undo, close] = (await browser.evaluate(tops)) as number[];
  expect(close).toBe(undo);
  await goTo(browser, 'activity');
  await browser.until("document.querySelector('#activity-list .undo button').checkVisibility()");
  const lefts = `['.task-title', '.undo button'].map((one) => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector('#activity-list ' + one));
    return Math.round(range.getBoundingClientRect().left);
  })`;
  const [title, below] = (await browser.evaluate(lefts)) as number[];
  expect(below).toBe(title);
});
