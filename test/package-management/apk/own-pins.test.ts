import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { createApk } from '../../device/apk-device/apk.ts';
import { createApkDevice } from '../../device/apk-device/apk-device.ts';
import { startDaemon } from '../../device/daemon.ts';

test('a depotd that came as a file is no longer pinned to it, and other pins stay', async () => {
  const device = await createApkDevice();
  const files: string[] = [];
  for (const name of ['depotd', 'luci-app-depotd', 'luci-i18n-depotd-zh-cn', 'vim']) {
    const file = join(device.root, `${name}.apk`);
    await writeFile(file, createApk({ name, version: '1.0-r1' }).bytes);
    files.push(file);
  }
  await device.apk('add', '--allow-untrusted', ...files);
  expect((await device.world()).filter((line) => line.includes('><'))).toHaveLength(4);

  const daemon = await startDaemon(device);
  try {
    await vi.waitFor(async () => expect(await device.world()).toContain('depotd'), 10_000);
    const world = await device.world();
    expect(world).toEqual(
      expect.arrayContaining(['depotd', 'luci-app-depotd', 'luci-i18n-depotd-zh-cn']),
    );
    expect(world.filter((line) => line.includes('><'))).toEqual([
      expect.stringMatching(/^vim><Q1/),
    ]);

    await device.apk('add', '--allow-untrusted', ...files);
    await vi.waitFor(async () => expect(await device.world()).toContain('depotd'), 10_000);
  } finally {
    await daemon.close();
    await device.close();
  }
});
