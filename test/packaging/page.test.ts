import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { slowPackage } from '../device/packages/awkward-packages.ts';
import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { launchBrowser } from '../panel/browser.ts';
import { CHIP, install } from '../panel/open-panel.ts';
import { startUhttpd } from './web-server.ts';

const LOG =
  "[...document.querySelectorAll('.lines > div')].map((line) => line.textContent).filter(Boolean).join('\\n')";

test.for([
  ['ends its streams every two seconds', { slots: 3, scriptTimeoutS: 2 }],
  ['has room for one stream only', { slots: 2, scriptTimeoutS: 60 }],
  ['ends its own handler every two seconds', { slots: 3, scriptTimeoutS: 2, relay: 'handler' }],
] as const)(
  'the page follows a task to its end behind an uhttpd that %s, and shows no line twice',
  async ([, limits]) => {
    const device = await createDevice({ packages: [slowPackage(3)] });
    onTestFinished(() => device.close());
    await device.opkg('update');
    const socket = join(device.root, 'depotd.sock');
    const daemon = await startDaemon(device, { set: [`main.listen=unix:${socket}`] });
    onTestFinished(() => daemon.close());
    const server = await startUhttpd({ socket, ...limits });
    onTestFinished(() => server.close());
    const url = `${server.url}${daemon.base}/`;
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    await browser.open(url);
    await browser.until("document.querySelector('#link').dataset.state === 'up'");

    await install(browser, 'slow');
    await browser.until(`${CHIP} === 'Done'`);
    const lines = (await daemon.logOf('latest'))
      .split('\n')
      .map((line) => line.trimEnd())
      .filter(Boolean);
    await browser.until(`${LOG}.includes(${JSON.stringify(lines.at(-1))})`);

    expect(await browser.evaluate(LOG)).toBe(lines.join('\n'));
  },
);
