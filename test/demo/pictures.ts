import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startDaemon, type TestDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { storeApps, type StoreLanguage } from '../device/packages/store-apps.ts';
import { findChromium, launchBrowser, type Browser } from '../panel/browser.ts';

/** `npm run pictures`: the README's pictures, taken of the page on a device in a folder. */
const DOCS = join(import.meta.dirname, '../../docs');
const LOOK = { width: 1280, height: 900, scheme: 'light' } as const;
const INSTALLED = ['adfilter', 'fileshare', 'homehub', 'photobackup'];

const program = findChromium();
if (program === undefined) {
  process.stderr.write(
    'cannot take pictures without a browser; on Debian: apt-get install chromium\n',
  );
  process.exit(1);
}
await takePicture(program, 'en', 'panel.png');
await takePicture(program, 'zh-cn', 'panel.zh-cn.png');

async function takePicture(chromium: string, language: StoreLanguage, file: string): Promise<void> {
  const device = await createDevice({ packages: storeApps(language) });
  const daemon = await startDaemon(device);
  const browser = await launchBrowser(chromium);
  try {
    await device.opkg('update');
    await browser.open(`${daemon.url}${daemon.base}/?lang=${language}`);
    for (const name of INSTALLED) await install(daemon, name);
    await showOneAtWork(browser);
    await browser.picture(LOOK);
    await browser.evaluate('scrollTo(0, 0)');
    await writeFile(join(DOCS, file), await browser.picture(LOOK));
    process.stdout.write(`docs/${file}\n`);
  } finally {
    await browser.close();
    await daemon.close();
    await device.close();
  }
}

async function install(daemon: TestDaemon, name: string): Promise<void> {
  await daemon.post('admin/store/install', { package: name });
  for (;;) {
    const answer = await daemon.get('admin/system/tasks/status?task_id=latest');
    const { running } = (await answer.json()) as { running: boolean };
    if (!running) return;
  }
}

/** A task that the page itself began shows its log. */
async function showOneAtWork(browser: Browser): Promise<void> {
  await browser.until(`document.querySelectorAll('.app').length === ${INSTALLED.length}`);
  await browser.evaluate(`{
    document.querySelector('#install-name').value = 'medialibrary';
    document.querySelector('#install').requestSubmit();
  }`);
  await browser.until("document.body.innerText.includes('music')");
}
