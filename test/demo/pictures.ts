import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice, type Device } from '../device/device.ts';
import { storeApps, type StoreLanguage } from '../device/packages/store-apps.ts';
import { launchBrowser, type Browser } from '../panel/browser.ts';
import { terminalPicture } from './terminal-picture.ts';

/** `npm run pictures`: the README's pictures, made of a device in a folder. */
const DOCS = join(import.meta.dirname, '../../docs');
const LOOK = { width: 1280, height: 640, scheme: 'light' } as const;
const INSTALLED = ['adfilter', 'fileshare', 'homehub', 'photobackup'];

const browser = await launchBrowser();
try {
  await takePicture('en', 'panel.png');
  await takePicture('zh-cn', 'panel.zh-cn.png');
  await onDevice('en', async ({ daemon }) => {
    await save('terminal.png', await terminalPicture(browser, daemon));
  });
} finally {
  await browser.close();
}

async function takePicture(language: StoreLanguage, file: string): Promise<void> {
  await onDevice(language, async ({ daemon }) => {
    for (const name of INSTALLED) {
      await daemon.finished(await daemon.submit('install', { package: name }));
    }
    await browser.open('about:blank');
    await browser.picture(LOOK);
    await browser.open(`${daemon.url}${daemon.base}/?lang=${language}`);
    await showOneAtWork(browser, daemon);
    await save(file, await browser.picture(LOOK));
  });
}

/** One app is being installed, and all pictures of apps are there. */
async function showOneAtWork(page: Browser, daemon: TestDaemon): Promise<void> {
  await daemon.submit('install', { package: 'medialibrary' });
  await page.until("document.querySelector('.app .busy:not([hidden])') !== null");
  await page.until(
    `document.querySelectorAll('#discover-list .letter img').length >= ${INSTALLED.length}`,
  );
  await page.until("[...document.querySelectorAll('.letter img')].every((each) => each.complete)");
}

async function onDevice(
  language: StoreLanguage,
  work: (at: { device: Device; daemon: TestDaemon }) => Promise<void>,
): Promise<void> {
  const device = await createDevice({ packages: storeApps(language), hasUsual: false });
  const daemon = await startDaemon(device);
  try {
    await device.opkg('update');
    await work({ device, daemon });
  } finally {
    await daemon.close();
    await device.close();
  }
}

async function save(file: string, picture: Buffer): Promise<void> {
  await writeFile(join(DOCS, file), picture);
  process.stdout.write(`docs/${file}\n`);
}
