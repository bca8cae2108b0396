import { expect, onTestFinished, test } from 'vitest';

import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { agree, openPanel } from './open-panel.ts';

const button = (where: string): string =>
  `[...document.querySelectorAll('${where} button')].find((one) =>
    one.innerText.trim() === 'Undo' && !one.disabled && one.checkVisibility())`;

test('a removal is undone from its notice, and that from Activity', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  await device.opkg('update');
  await device.opkg('install', 'app-meta-demo');
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
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
  await browser.evaluate(`${button('#activity-list')}.click()`);
  await agree(browser);
  await expect.poll(version, { timeout: 30_000 }).toBeUndefined();
  expect(browser.complaints).toEqual([]);
});
