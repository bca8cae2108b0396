import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import { expect, onTestFinished, test } from 'vitest';

import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import type { FeedPackage } from '../device/feed-index.ts';
import { click, goTo, openPanel } from './open-panel.ts';

const ofImage = (version: string): FeedPackage => ({
  name: 'from-image',
  version,
  architecture: 'all',
  files: { '/usr/bin/from-image': version },
});
const UPGRADES = (view: string): string =>
  `[...document.querySelectorAll('${view} button')].filter((each) => each.textContent.trim() === 'Upgrade' && each.checkVisibility()).length`;

test('what comes with the next firmware has no button to upgrade it, and says so', async () => {
  const device = await createDevice({ packages: [ofImage('1.0-1')] });
  onTestFinished(() => device.close());
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  await daemon.finished(await daemon.submit('install', { package: 'from-image' }));
  await mkdir(join(device.root, 'rom/usr/lib/opkg'), { recursive: true });
  await writeFile(
    join(device.root, 'rom/usr/lib/opkg/status'),
    'Package: from-image\nVersion: 1.0-1\nStatus: install user installed\n\n',
  );
  device.feed.publish([ofImage('2.0-1')]);
  await daemon.finished(await daemon.submit('update', {}));
  const browser = await openPanel(`${daemon.url}${daemon.base}/#updates`);

  await browser.until("document.querySelector('#updates-left').textContent.includes('from-image')");
  expect(await browser.evaluate(UPGRADES('#updates-left'))).toBe(0);
  const words = 'the newer version comes with the next firmware';
  await goTo(browser, 'installed');
  await click(browser, '#installed-all');
  await browser.until(`document.querySelector('#installed-list').textContent.includes('${words}')`);
  expect(await browser.evaluate(UPGRADES('#installed-list'))).toBe(0);
  await goTo(browser, 'app/from-image');
  await browser.until(
    "document.querySelector('#app-buttons').textContent.includes('The newer version comes with the next firmware.')",
  );
  expect(await browser.evaluate(UPGRADES('#app-buttons'))).toBe(0);
});

test("however much belongs to the firmware, all is counted, and the owner's own can be upgraded", async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  await device.opkg('update');
  await device.opkg('install', 'notes-app');
  device.publish(2);
  await device.opkg('update');
  // More than the daemon says at once.
  const names = Array.from({ length: 210 }, (_, index) => `image-${index}`);
  const stanzas = (fields: string): string =>
    names.map((name) => `Package: ${name}\n${fields}Architecture: all\n\n`).join('');
  const records = stanzas('Version: 1.0-1\nStatus: install user installed\n');
  await mkdir(join(device.root, 'rom/usr/lib/opkg'), { recursive: true });
  await writeFile(join(device.root, 'rom/usr/lib/opkg/status'), records);
  await appendFile(join(device.root, 'usr/lib/opkg/status'), records);
  const list = join(device.root, 'var/opkg-lists/lab');
  const offers = stanzas('Version: 2.0-1\nFilename: x.ipk\nSize: 1\n');
  const text = `${gunzipSync(await readFile(list)).toString()}\n${offers}`;
  await writeFile(list, gzipSync(text));
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());

  const browser = await openPanel(`${daemon.url}${daemon.base}/#updates`);

  await browser.until(
    "document.querySelector('#updates-left').textContent.includes('210 belong to the firmware')",
  );
  expect(await browser.evaluate("document.querySelector('#updates-list').textContent")).toContain(
    'notes-app',
  );
  expect(await browser.evaluate("document.querySelector('#updates-all').hidden")).toBe(false);
});
