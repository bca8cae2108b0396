import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import type { ApkDevice } from '../apk-device/apk-device.ts';
import { THIRD_INDEX_NAME } from '../apk-device/apk-third-format.ts';
import { mustWork, startApkDevice, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

const maker = process.env.APK_FULL;

/** APK_FULL names an apk with mkpkg and mkndx; the stand-in cannot read what it makes. */
describe.runIf(maker !== undefined && process.env.APK !== undefined)('packages.adb', () => {
  const start = (): Promise<ApkDevice> => startUpdatedApkDevice({ maker: maker ?? '' });

  test('packages install and upgrade, and have the mark that is no fault', async () => {
    const device = await start();

    await mustWork(device, 'add', 'app-meta-demo');
    expect((await stateOf(device)).installed).toEqual([
      'app-meta-demo-1.0-r1 [S]',
      'demo-app-1.0-r1 [S]',
      'libdemo-1.0-r1 [S]',
    ]);
    device.publish(2);
    await mustWork(device, 'update');
    await mustWork(device, 'upgrade');

    expect((await stateOf(device)).installed).toContain('demo-app-1.1-r1 [S]');
    expect(await mustWork(device, 'audit', '--system')).toBe('');
  });

  test.each([
    ['missing', /: unexpected end of file\n/],
    ['html', /: file format is invalid or inconsistent\n/],
    ['truncated', /: unexpected end of file\n/],
    ['changed', /: (?:file format is invalid|ADB|file integrity)/],
  ] as const)('with --cache-predownload one that is %s changes nothing', async (fault, reason) => {
    const device = await start();
    device.feed.misbehave('libdemo-1.0-r1.apk', fault);

    const add = await device.apk('add', '--cache-predownload', 'app-meta-demo');

    expect(add.code).toBe(99);
    expect(add.stderr).toMatch(/ERROR: libdemo-1\.0-r1: /);
    expect(add.stderr).toMatch(reason);
    expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  });

  test.each(['html', 'changed'] as const)(
    'an index that is %s leaves the good old copy in use',
    async (fault) => {
      const device = await start();
      device.feed.misbehave(THIRD_INDEX_NAME, fault);

      const update = await device.apk('update');
      expect(update.code).toBe(1);
      expect(update.stderr).toContain(`WARNING: updating ${device.feed.url}/${THIRD_INDEX_NAME}: `);
      await mustWork(device, 'add', 'virt');
    },
  );

  test('a package file begins with ADB, is unsigned, and can be looked into', async () => {
    const device = await startApkDevice({ maker: maker ?? '' });
    const folder = join(device.root, 'tmp');
    await device.feed.writeTo(folder);
    const path = join(folder, 'libdemo-1.0-r1.apk');

    expect((await readFile(path)).subarray(0, 3).toString()).toBe('ADB');
    expect(await device.apk('add', path)).toMatchObject({ code: 99 });
    expect(
      JSON.parse(await mustWork(device, 'adbdump', '--allow-untrusted', '--format', 'json', path)),
    ).toMatchObject({ info: { name: 'libdemo', version: '1.0-r1', depends: ['libc'] } });
    await mustWork(device, 'add', '--allow-untrusted', path);
  });

  test('adbdump cannot look into a package of the second format', async () => {
    const device = await start();
    const second = await startApkDevice();
    await second.feed.writeTo(join(second.root, 'tmp'));
    const path = join(device.root, 'tmp/second.apk');
    await writeFile(path, await readFile(join(second.root, 'tmp/libdemo-1.0-r1.apk')));

    expect((await device.apk('adbdump', '--allow-untrusted', path)).code).toBe(99);
    await mustWork(device, 'add', '--allow-untrusted', path);
  });
});
