import { expect, onTestFinished, test } from 'vitest';

import { createApkDevice } from '../device/apk-device/apk-device.ts';
import { startDaemon } from '../device/daemon.ts';
import { createDevice } from '../device/device.ts';
import { goTo, openPanel } from './open-panel.ts';

test.each([
  { manager: 'opkg', createDeviceOf: createDevice, ending: '.ipk', other: '.apk' },
  { manager: 'apk', createDeviceOf: createApkDevice, ending: '.apk', other: '.ipk' },
])(
  'on a device with $manager the page asks for files that it can install',
  async ({ createDeviceOf, ending, other }) => {
    const device = await createDeviceOf();
    onTestFinished(() => device.close());
    const daemon = await startDaemon(device);
    onTestFinished(() => daemon.close());
    const browser = await openPanel(`${daemon.url}${daemon.base}/`);

    await goTo(browser, 'device');
    await browser.until(
      `document.querySelector('#upload-note').textContent.startsWith('A package (${ending}) or a .run file')`,
    );
    expect(await browser.evaluate("document.querySelector('#upload-file').accept")).toBe(
      `${ending},.run`,
    );
    await browser.evaluate(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['x'], 'some${other}'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }`);
    await browser.until(
      `document.querySelector('#upload-problem').textContent === 'The name of the file must end in ${ending} or .run.'`,
    );
  },
);
