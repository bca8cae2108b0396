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

test('a backup that is chosen as a file is taken in, and what it would bring back is shown', async () => {
  const device = await createDevice();
  onTestFinished(() => device.close());
  const daemon = await startDaemon(device);
  onTestFinished(() => daemon.close());
  const id = await daemon.submit('backup');
  await daemon.finished(id);
  const file = await (await daemon.get(`admin/store/backup_file?id=${id}`)).arrayBuffer();
  await daemon.post('admin/store/remove_backup', { id });
  const browser = await openPanel(`${daemon.url}${daemon.base}/`);

  await goTo(browser, 'device');
  await browser.until("document.querySelector('#backup-file')?.checkVisibility()");
  await browser.evaluate(`{
    const bytes = Uint8Array.from(atob('${Buffer.from(file).toString('base64')}'), (each) => each.codePointAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], 'backup.tar.gz'));
    const input = document.querySelector('#backup-file');
    input.files = dataTransfer.files;
    input.dispatchEvent(new Event('change'));
  }`);

  await browser.until("document.querySelector('dialog[open]') !== null");
  expect(await (await daemon.get('admin/store/backups')).json()).toMatchObject({
    backups: [{ id, reason: 'given' }],
  });
});
