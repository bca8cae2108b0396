import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { toApkPackage } from '../apk-device/apk-conversion.ts';
import type { ApkDevice } from '../apk-device/apk-device.ts';
import { runCommand } from '../command.ts';
import { largePackage } from '../packages/awkward-packages.ts';
import { mustWork, startUpdatedApkDevice, stateOf } from './start-apk-device.ts';

const FULL = 'No space left on device';

describe.skipIf(process.getuid?.() !== 0)('when the disk is full', () => {
  test('a package whose files do not fit is not there, nor its files, but world has it', async () => {
    const { device } = await startSmallDevice();

    const add = await device.apk('add', 'large');

    expect(add.code).toBe(1);
    expect(add.stderr).toContain(`ERROR: large-1.0-r1: ${FULL}\n`);
    expect(await stateOf(device)).toEqual({ installed: [], world: ['large'] });
    expect(await device.read('usr/share/large/noise')).toBeUndefined();
    await mustWork(device, 'del', 'large');
    await mustWork(device, 'add', 'virt');
  });

  test('with --cache-predownload a cache that is too small changes nothing: 99', async () => {
    const { device } = await startSmallDevice();

    const add = await device.apk('add', '--cache-predownload', 'large');

    expect(add.code).toBe(99);
    expect(add.stderr).toContain(`ERROR: large-1.0-r1: ${FULL}\n`);
    expect(await stateOf(device)).toEqual({ installed: [], world: [] });
  });

  test('a database that cannot be written stays as it was, and so does world', async () => {
    const { device, folder } = await startSmallDevice();
    const filler = join(folder, 'filler');
    await writeFile(filler, Buffer.alloc(8 * 1024 ** 2)).catch(() => undefined);

    const add = await device.apk('add', 'virt');

    expect(add.code).toBeGreaterThan(0);
    expect(add.stderr).toContain(
      `ERROR: System state may be inconsistent: failed to write database: ${FULL}\n`,
    );
    expect(await stateOf(device)).toEqual({ installed: [], world: [] });

    await rm(filler);
    await mustWork(device, 'add', 'virt');
  });
});

/** On a disk of 2 MiB, with a package of 3 MiB in its feed. */
async function startSmallDevice(): Promise<{ device: ApkDevice; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-small-'));
  await runCommand(['mount', '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]);
  onTestFinished(async () => {
    await runCommand(['umount', '-l', folder]);
    await rm(folder, { recursive: true, force: true });
  });
  const large = toApkPackage(largePackage(3 * 1024 ** 2));
  const directory = join(folder, 'device');
  return { device: await startUpdatedApkDevice({ directory, packages: [large] }), folder };
}
