import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import type { ApkDevice } from '../apk-device/apk-device.ts';
import { mustWork, startUpdatedApkDevice } from './start-apk-device.ts';

const CONFIG = 'etc/config/demo-app';

async function startUpgradable(): Promise<ApkDevice> {
  const device = await startUpdatedApkDevice();
  await mustWork(device, 'add', 'demo-app');
  device.publish(2);
  await mustWork(device, 'update');
  return device;
}

test('a file below /etc that its owner changed stays, the new one comes beside it', async () => {
  const device = await startUpgradable();
  await writeFile(join(device.root, CONFIG), 'mine\n');
  await appendFile(join(device.root, 'etc/init.d/demo-app'), '# mine\n');

  expect(await mustWork(device, 'upgrade')).toContain(
    '  Installing file to etc/config/demo-app.apk-new\n',
  );

  expect(await device.read(CONFIG)).toBe('mine\n');
  expect(await device.read(`${CONFIG}.apk-new`)).toContain("option ver '1.1-1'");
  expect(await device.read('etc/init.d/demo-app')).toContain('# mine\n');
});

test('one that nobody changed is replaced', async () => {
  const device = await startUpgradable();

  await mustWork(device, 'upgrade');

  expect(await device.read(CONFIG)).toContain("option ver '1.1-1'");
  expect(await device.read(`${CONFIG}.apk-new`)).toBeUndefined();
});

test('a removal leaves a changed one, and takes what lay beside it', async () => {
  const device = await startUpgradable();
  await writeFile(join(device.root, CONFIG), 'mine\n');
  await mustWork(device, 'upgrade');

  await mustWork(device, 'del', 'demo-app');

  expect(await device.read(CONFIG)).toBe('mine\n');
  expect(await device.read(`${CONFIG}.apk-new`)).toBeUndefined();
});

test('--purge removes a changed one, too', async () => {
  const device = await startUpgradable();
  await writeFile(join(device.root, CONFIG), 'mine\n');

  await mustWork(device, 'del', '--purge', 'demo-app');

  expect(await device.read(CONFIG)).toBeUndefined();
});

test('one that was there before stays; with --clean-protected nothing comes beside it', async () => {
  const device = await startUpdatedApkDevice();
  await mkdir(join(device.root, 'etc/config'), { recursive: true });
  await writeFile(join(device.root, CONFIG), 'mine\n');

  await mustWork(device, 'add', '--clean-protected', 'demo-app');
  expect(await device.read(CONFIG)).toBe('mine\n');
  expect(await device.read(`${CONFIG}.apk-new`)).toBeUndefined();

  await mustWork(device, 'fix', 'demo-app');
  expect(await device.read(CONFIG)).toBe('mine\n');
});
